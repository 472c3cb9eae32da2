// npm run test:ops: makes real stores fail under hosts that serve writes, and prints the outcome of each write. Arguments: parts of
// rows as `STORES: FAULT`; only the rows that have them all run. Or `soak` and a
// number of minutes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { columns } from '../bench/report.ts'
import { keepTemporaryFilesInMemory } from '../harness/run/temporary-files.ts'
import { clusterPrograms } from './programs.ts'
import { runRow, type Row } from './row.ts'
import { runSoak } from './soak.ts'
import type { Stage } from './stage.ts'
import { STAGES } from './stages.ts'

const TITLES = [
  'stores',
  'fault',
  'sent',
  'ok',
  '4xx',
  '5xx',
  'none',
  'lost',
  'doubled',
  'seconds',
  'readiness',
]

function cells(row: Row): string[] {
  const { sent, ok, denied, failed, unanswered } = row.responses
  const figures = [sent, ok, denied, failed, unanswered, row.lost, row.doubled].map(String)
  const { readyWhileFailing: ready, notReadyWhileWorking: notReady } = row.readiness
  const readiness = ready + notReady === 0 ? 'right' : `wrong for ${ready + notReady} s`
  const noticed = row.lossNoticed ? ', loss noticed' : ''
  return [row.stage, row.fault, ...figures, row.gapSeconds.toFixed(1), readiness + noticed]
}

const lines = (rows: readonly string[][]): string => columns(rows, [0, 1, 10]).join('\n')

/** The rows of a stage. A row that did not end is missing. */
async function runStage(stage: Stage, faults: readonly string[]): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-ops-'))
  const open = await stage.open(folder, clusterPrograms(folder))
  const rows: Row[] = []
  try {
    for (const fault of open.faults.filter(({ name }) => faults.includes(name))) {
      const row = await runRow(stage.name, open, fault).catch((error: unknown) => {
        console.log(`not ok ${stage.name}: ${fault.name}: ${String(error)}`)
        return undefined
      })
      if (row === undefined) continue
      rows.push(row)
      console.log(lines([cells(row)]))
      for (const problem of row.problems) console.log(`not ok ${stage.name}: ${fault.name}: ${problem}`)
    }
  } finally {
    await open.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return rows
}

async function runRows(wanted: readonly string[]): Promise<void> {
  const isWanted = (stage: Stage, fault: string): boolean =>
    wanted.every(part => `${stage.name}: ${fault}`.includes(part))
  const rows: Row[] = []
  let begun = 0
  for (const stage of STAGES) {
    const faults = stage.faults.filter(fault => isWanted(stage, fault))
    begun += faults.length
    if (faults.length > 0) rows.push(...(await runStage(stage, faults)))
  }
  console.log(lines([TITLES, ...rows.map(cells)]))
  const passed = rows.filter(({ problems }) => problems.length === 0).length
  report(passed, begun - passed)
}

async function soak(minutes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-ops-'))
  const problems = await runSoak(minutes, folder, clusterPrograms(folder))
  rmSync(folder, { recursive: true, force: true })
  for (const problem of problems) console.log(`not ok soak: ${problem}`)
  report(problems.length === 0 ? 1 : 0, problems.length)
}

function report(passed: number, failed: number): void {
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}

keepTemporaryFilesInMemory()
const args = process.argv.slice(2)
await (args[0] === 'soak' ? soak(Number(args[1] ?? 30)) : runRows(args))
