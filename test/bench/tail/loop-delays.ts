// Preloaded into a host: for each SIGUSR2 it prints how long the event loop was held since the last one, as JSON after `loop-delays `.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 5
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
histogram.enable()

/** The longest time between two turns beyond the resolution, and the most CPU of the process in such a time. Both in ms. */
let most = 0
let mostCpu = 0
let [lastAt, lastCpu] = [performance.now(), process.cpuUsage()]
setInterval(() => {
  const now = performance.now()
  const { user, system } = process.cpuUsage(lastCpu)
  most = Math.max(most, now - lastAt - RESOLUTION_MS)
  mostCpu = Math.max(mostCpu, (user + system) / 1000)
  lastAt = now
  lastCpu = process.cpuUsage()
}, RESOLUTION_MS).unref()

process.on('SIGUSR2', () => {
  const loopP99 = Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS)
  const loopMost = Math.max(most, histogram.max / 1e6 - RESOLUTION_MS)
  console.log(`loop-delays ${JSON.stringify({ loopP99, loopMost, loopMostCpu: mostCpu })}`)
  histogram.reset()
  most = mostCpu = 0
})
