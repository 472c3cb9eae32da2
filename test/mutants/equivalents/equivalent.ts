/** A mutation that changes nothing that a caller could see. */
export interface Equivalent {
  /** The source file. */
  readonly source: string
  /** The compiled line before and after the change. Without the latter: whatever changes in it. */
  readonly before: string
  readonly after?: string
  readonly reason: string
}
