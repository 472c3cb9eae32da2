/** Whether benches run once, with little work, to show that they still run: `BENCH_ONCE=1`. Figures of such a run mean nothing. */
export const ONCE: boolean = process.env['BENCH_ONCE'] === '1'

/** How much of something a bench does: `usual`, or at most `least` where it runs once. */
export function extent(usual: number, least: number): number {
  return ONCE ? Math.min(usual, least) : usual
}

/** Prints a bar that was missed, and makes the process exit with 1. Where benches run once, no figure is compared. */
export function reportMissed(text: string): void {
  if (ONCE) return
  console.log(`  MISSED ${text}`)
  process.exitCode = 1
}
