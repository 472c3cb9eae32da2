/** How a client proves who it is to an operation. `key-or-session`: by its API key if it has one, otherwise by its session. */
type Credential = 'none' | 'key' | 'session' | 'key-or-session'

/** What a call of an operation passes: path parameters, query and body. */
export interface OperationInput {
  readonly params?: object
  readonly query?: object
  readonly body?: object
}

/**
 * One operation of the API, as the generated files list it. `Input` is what a call passes, `Data` what a success returns. The types are
 * not there at run time.
 */
export interface Operation<Input extends OperationInput, Data> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `{name}` where a path parameter stands. */
  readonly path: string
  readonly credential: Credential
  /** Whether it takes an idempotency key, under which a repeat has no second effect. */
  readonly keyed?: true
  /** Whether a success is a text, such as CSV, instead of JSON. */
  readonly text?: true
  readonly types?: (input: Input) => Data
}

/** An operation that returns a list page by page. */
export interface ListOperation<Input extends OperationInput, Data, List extends keyof Data & string>
  extends Operation<Input, Data> {
  /** The member of `Data` that has the items. */
  readonly list: List
}
