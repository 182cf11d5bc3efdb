// What goes wrong in a template: in its text (with the line), or while it runs.

/** The text is no template, or uses something that is not supported. */
export class TemplateSyntaxError extends Error {
  constructor(message: string, line: number) {
    super(`line ${line}: ${message}`);
  }
}

/** A template that runs does what Python refuses. */
export class TemplateError extends Error {}

/** A template has used its budget up. */
export class BudgetError extends TemplateError {}
