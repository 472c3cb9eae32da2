// npm run simulate:scale: payments on one machine as measured and as simulated, then on the machines of docs/scale.md. Writes the picture
// of that page. Every run prints the same.
import { writeFileSync } from 'node:fs'
import { columns, digits } from '../bench/report.ts'
import { pointsChart } from './chart.ts'
import { simulateHotAccount, simulateSize, SIZES } from './plan.ts'
import { MEASURED, nameOf, simulatePoint } from './points.ts'

const percent = (share: number): string => (Number.isNaN(share) ? '' : `${(100 * share).toFixed(0)} %`)

console.log(`one machine, measured / simulated (${MEASURED.machine}, ${MEASURED.at.slice(0, 10)})`)
const simulated = MEASURED.points.map(point => ({ point, outcome: simulatePoint(point) }))
console.log(
  columns(
    [
      ['arrivals', 'hosts', 'a second', '', 'p50 ms', '', 'p99 ms', '', 'machine', ''],
      ...simulated.map(({ point, outcome }) => [
        nameOf(point.arrivals),
        String(point.hosts),
        ...[point.perSecond, outcome.perSecond, point.p50, outcome.p50, point.p99, outcome.p99].map(digits),
        percent((point.cpu.client + point.cpu.hosts + point.cpu.postgres) / 1000 / MEASURED.cores),
        percent(outcome.machineUtilization),
      ]),
    ],
    [0],
  ).join('\n'),
)

console.log('\nmachines of their own, simulated')
console.log(
  columns(
    [
      [
        'offered',
        'a second',
        'p50 ms',
        'p99 ms',
        'hosts',
        'busy',
        'databases',
        'busy',
        'crossing',
        'one account',
      ],
      ...SIZES.map(size => {
        const outcome = simulateSize(size)
        return [
          ...[outcome.offeredPerSecond, outcome.perSecond, outcome.p50, outcome.p99].map(digits),
          String(size.hosts),
          percent(outcome.hostUtilization),
          `${size.databases} of ${size.coresPerDatabase} cores`,
          percent(outcome.databaseUtilization),
          percent(outcome.crossShare),
          `${digits(simulateHotAccount(size).perSecond)} a second`,
        ]
      }),
    ],
    [],
  ).join('\n'),
)
writeFileSync('docs/images/scale.svg', pointsChart(simulated))
