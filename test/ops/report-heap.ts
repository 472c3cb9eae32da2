// Loaded into a host under test: writes the bytes that its live objects take to the file HEAP_FILE, every 5 seconds.
import { writeFileSync } from 'node:fs'

const file = process.env['HEAP_FILE'] as string
setInterval(() => {
  globalThis.gc?.()
  writeFileSync(file, String(process.memoryUsage().heapUsed))
}, 5000).unref()
