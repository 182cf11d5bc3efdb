// A conversation as the chat template receives it. Keys are the wire's own (snake_case), because templates and clients
// both read them; unknown keys are passed on unchanged.

export interface ToolCall {
  readonly id?: string | undefined;
  readonly type?: string | undefined;
  readonly function: {
    readonly name: string;
    /** JSON text on the wire; templates get the parsed object. */ readonly arguments: string;
  };
}

export interface ChatMessage {
  readonly role: string;
  /** text/chat-template.ts joins the parts or passes them on, depending on the template. */
  readonly content?: string | readonly Readonly<Record<string, unknown>>[] | null | undefined;
  readonly name?: string | undefined;
  readonly tool_calls?: readonly ToolCall[] | null | undefined;
  readonly tool_call_id?: string | undefined;
  readonly [extra: string]: unknown;
}

export interface ToolDefinition {
  readonly type: string;
  readonly function: { readonly name: string; readonly [extra: string]: unknown };
  readonly [extra: string]: unknown;
}
