// The syntax tree of a template, as parser.ts makes it and interpreter.ts runs it. Knows no values and no meaning of names.

export type Constant = string | number | bigint | boolean | null | FloatLiteral;

/** A number that was written with a point or an exponent. */
export interface FloatLiteral {
  readonly float: number;
}

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*list` */
  readonly list: Expression | null;
  /** `**dict` */
  readonly dict: Expression | null;
}

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';
export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';

export type Expression =
  | { readonly type: 'Constant'; readonly value: Constant }
  | { readonly type: 'Name'; readonly name: string }
  | { readonly type: 'List'; readonly items: readonly Expression[] }
  | { readonly type: 'Tuple'; readonly items: readonly Expression[] }
  | { readonly type: 'Dict'; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | {
      readonly type: 'Conditional';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression | null;
    }
  | { readonly type: 'Or' | 'And'; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'Not' | 'Negative' | 'Positive'; readonly operand: Expression }
  | {
      readonly type: 'Comparison';
      readonly first: Expression;
      readonly rest: readonly { readonly operator: ComparisonOperator; readonly operand: Expression }[];
    }
  | { readonly type: 'Concatenation'; readonly parts: readonly Expression[] }
  | {
      readonly type: 'Binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly type: 'Attribute'; readonly object: Expression; readonly name: string }
  | { readonly type: 'Item'; readonly object: Expression; readonly key: Expression }
  | {
      readonly type: 'Slice';
      readonly object: Expression;
      readonly start: Expression | null;
      readonly stop: Expression | null;
      readonly step: Expression | null;
    }
  | { readonly type: 'Call'; readonly callee: Expression; readonly args: Arguments }
  | FilterExpression
  | { readonly type: 'Test'; readonly operand: Expression; readonly name: string; readonly args: Arguments };

/** Without an operand, it filters the text of its block. */
export interface FilterExpression {
  readonly type: 'Filter';
  readonly operand: Expression | null;
  readonly name: string;
  readonly args: Arguments;
}

export type Target =
  | { readonly type: 'Name'; readonly name: string }
  | { readonly type: 'Targets'; readonly items: readonly Target[] }
  | { readonly type: 'NamespaceItem'; readonly namespace: string; readonly name: string };

/** Of a macro or a call block; the last parameters have the defaults. */
export interface Parameters {
  readonly names: readonly string[];
  readonly defaults: readonly Expression[];
}

export type Block = readonly Statement[];

export type Statement =
  | { readonly type: 'Text'; readonly text: string }
  | { readonly type: 'Output'; readonly values: readonly Expression[] }
  | {
      readonly type: 'If';
      readonly branches: readonly { readonly test: Expression; readonly body: Block }[];
      readonly otherwise: Block;
    }
  | {
      readonly type: 'For';
      readonly target: Target;
      readonly items: Expression;
      readonly test: Expression | null;
      readonly isRecursive: boolean;
      readonly body: Block;
      readonly otherwise: Block;
    }
  | { readonly type: 'Set'; readonly target: Target; readonly value: Expression }
  | {
      readonly type: 'SetBlock';
      readonly target: Target;
      readonly filter: FilterExpression | null;
      readonly body: Block;
    }
  | { readonly type: 'Macro'; readonly name: string; readonly parameters: Parameters; readonly body: Block }
  | {
      readonly type: 'CallBlock';
      readonly call: Expression & { type: 'Call' };
      readonly parameters: Parameters;
      readonly body: Block;
    }
  | { readonly type: 'FilterBlock'; readonly filter: FilterExpression; readonly body: Block }
  | {
      readonly type: 'With';
      readonly bindings: readonly { readonly target: Target; readonly value: Expression }[];
      readonly body: Block;
    }
  | TemplateBlock
  | { readonly type: 'Generation'; readonly body: Block }
  | { readonly type: 'Break' | 'Continue' };

/** `{% block name %}`; `isScoped`: it reads the variables around it. */
export interface TemplateBlock {
  readonly type: 'Block';
  readonly name: string;
  readonly isScoped: boolean;
  readonly body: Block;
}

export type JinjaNode = Expression | Statement | Target;

/** Every node below `root` and itself, if it is one; not those that are closed, nor what is below them. */
export function jinjaNodes(root: unknown, isClosed: (node: JinjaNode) => boolean = () => false): JinjaNode[] {
  const found: JinjaNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value) {
        if (isClosed(value as JinjaNode)) return;
        found.push(value as JinjaNode);
      }
      Object.values(value).forEach(visit);
    }
  };
  visit(root);
  return found;
}
