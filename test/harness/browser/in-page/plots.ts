// This function runs in the page: the harness sends its text there, so it may use nothing from outside itself.

/** Counts the plots that uPlot keeps, as `plotsOfTest`: each listens to the window from its making until it is destroyed. */
export function countPlots(): void {
  const page = window as unknown as { plotsOfTest: number }
  page.plotsOfTest = 0
  const { addEventListener, removeEventListener } = window
  const counting = (change: number, method: typeof addEventListener): typeof addEventListener =>
    function (this: Window, ...args: [string, EventListenerOrEventListenerObject]) {
      if (args[0] === 'dppxchange') page.plotsOfTest += change
      Reflect.apply(method, this, args)
    }
  window.addEventListener = counting(1, addEventListener)
  window.removeEventListener = counting(-1, removeEventListener)
}
