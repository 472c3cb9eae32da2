/** A provider's expected "no". Anything unexpected is a thrown fault. */
export interface Refused {
  /** Why, for the operator's log. The account is not told. */
  readonly refused: string
}

/** Whether a provider said no. */
export function isRefused(reply: object): reply is Refused {
  return 'refused' in reply
}
