// A time-out that responds in front of a handler says nothing about the payment that the handler makes.
import t from 'tap'
import { outcomes, table } from './matrix.ts'
import { SERVERS } from './servers.ts'

for (const [name, { start, places }] of Object.entries(SERVERS))
  t.test(
    `${name}: one payment for a key, and no more than the cap, whoever responds while the handler pays`,
    async t => {
      t.setTimeout(1_800_000)
      const found = await outcomes(start, places)
      for (const row of table(name, found)) t.comment(row)
      for (const { place, end, status, paidPerKey, paidUnderCap } of found)
        t.same(
          { paidPerKey, fits: paidUnderCap <= 2 },
          { paidPerKey: 1, fits: true },
          `${place}, ${end}, ${status}`,
        )
    },
  )
