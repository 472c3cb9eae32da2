// A bench that has the outcome of its argument: `fails` in its operation, `misses` a bar or `meets` it.
import { compare } from './harness.ts'

const [outcome] = process.argv.slice(2)
let operations = 0
await compare('outcome', {
  ours: {
    name: 'ours',
    atMostMicros: outcome === 'misses' ? 0 : 1_000_000,
    run: () => {
      operations++
      if (outcome === 'fails') throw new Error('another outcome than expected')
    },
  },
  peers: [],
  operations: 1000,
})
console.log(`${operations} operations`)
