/**
 * What tap gets in place of async-hook-domain, which follows every promise and timer of the process and takes a tenth of
 * its CPU time. An error that nobody handles ends the process here, and the files that have not ended have failed.
 */
export class Domain {
  readonly onerror: (error: unknown, type: string) => void

  constructor(onerror: (error: unknown, type: string) => void) {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this is no event target.
    this.onerror = onerror
  }

  destroy(): void {}
}
