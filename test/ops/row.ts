import { setTimeout as sleep } from 'node:timers/promises'
import { gatewrightProcess } from '../harness/gatewright.ts'
import { until } from './daemon.ts'
import { startHosts, type OpsHosts } from './hosts.ts'
import {
  compareWrites,
  countResponses,
  judgeReadiness,
  longestGapMs,
  type AcknowledgedWrite,
  type ResponseCounts,
  type WrongReadiness,
} from './judge.ts'
import type { Fault, OpenStage } from './stage.ts'
import { startWriters, type Writers } from './writes.ts'

/** The outcomes of writes during one fault. */
export interface Row {
  readonly stage: string
  readonly fault: string
  readonly responses: ResponseCounts
  readonly lost: number
  readonly doubled: number
  readonly gapSeconds: number
  readonly readiness: WrongReadiness
  /** Whether hosts said that their database has lost history. */
  readonly lossNoticed: boolean
  /** What must not be so; none: the row is as promised. */
  readonly problems: readonly string[]
}

const HOSTS = 2
const WRITERS = 8
const BEFORE_MS = 4000
const AFTER_MS = 4000
/** How long a host may take to notice a change: a check of 2 s whose result is shared for 1 s, twice. */
const NOTICE_MS = 6000
/** With asynchronous replication, writes that are older than this at the fault are never lost. */
const NEWEST_MS = 10_000

/** Lets hosts serve writes on an empty database while a fault happens and for a while after it, and looks for each write. */
export async function runRow(stage: string, open: OpenStage, fault: Fault): Promise<Row> {
  await open.settled()
  const env = await open.emptyDatabase()
  const hosts = await startHosts(open.hostCount ?? HOSTS, env)
  try {
    const writers = await startWriters(WRITERS, hosts.hosts)
    await sleep(BEFORE_MS)
    const faultAt = performance.now()
    await fault.act(hosts)
    await open.settled()
    await until('each host is ready', () => hosts.settled())
    await sleep(AFTER_MS)
    await writers.stop()
    const stored = await writers.stored()
    // An embedded database belongs to one process at a time.
    await hosts.stop()
    const books = await gatewrightProcess(['ledger', 'check'], env)
    return judge({ stage, fault, faultAt, hosts, writers, stored, books })
  } finally {
    await hosts.stop()
  }
}

interface Run {
  readonly stage: string
  readonly fault: Fault
  readonly faultAt: number
  readonly hosts: OpsHosts
  readonly writers: Writers
  readonly stored: readonly string[]
  readonly books: { readonly code: number | null; readonly output: string }
}

function judge({ stage, fault, faultAt, hosts, writers, stored, books }: Run): Row {
  const { lost, doubled } = compareWrites(writers.acknowledged, stored)
  const readiness = judgeReadiness(hosts.samples, writers.attempts, NOTICE_MS)
  const responses = countResponses(writers.attempts)
  const problems = [
    ...lostProblems(fault, faultAt, lost),
    ...(doubled === 0 ? [] : [`${doubled} doubled`]),
    ...(responses.denied === 0 ? [] : [`${responses.denied} denied`]),
    ...(books.code === 0 ? [] : [`ledger check: ${books.output.trim()}`]),
    ...(fault.wrongReadiness ? [] : readinessProblems(readiness)),
  ]
  return {
    stage,
    fault: fault.name,
    responses,
    lost: lost.length,
    doubled,
    gapSeconds: longestGapMs(writers.attempts) / 1000,
    readiness,
    lossNoticed: hosts.samples.some(({ lostHistory }) => lostHistory),
    problems,
  }
}

function lostProblems(
  { mayLose }: Fault,
  faultAt: number,
  lost: readonly AcknowledgedWrite[],
): readonly string[] {
  if (lost.length === 0 || mayLose === 'any') return []
  if (mayLose === undefined) return [`${lost.length} lost`]
  const old = lost.filter(({ acknowledgedAt }) => acknowledgedAt < faultAt - NEWEST_MS)
  return old.length === 0 ? [] : [`${old.length} lost that were not new`]
}

function readinessProblems({ readyWhileFailing, notReadyWhileWorking }: WrongReadiness): readonly string[] {
  return [
    ...(readyWhileFailing === 0 ? [] : [`ready for ${readyWhileFailing} s while writes failed`]),
    ...(notReadyWhileWorking === 0 ? [] : [`not ready for ${notReadyWhileWorking} s while writes succeeded`]),
  ]
}
