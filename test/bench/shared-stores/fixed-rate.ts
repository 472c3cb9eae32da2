import { Agent, request } from 'node:http'
import type { Request } from '../load.ts'

/** How long responses took, in ms from the instant at which each request was due. */
export interface Times {
  readonly p50: number
  readonly p99: number
  /** Responses a second. */
  readonly perSecond: number
}

/** The median and the 99th percentile of times, and how many there were a second since `started`. */
function timesSince(started: number, times: readonly number[]): Times {
  const perSecond = times.length / ((performance.now() - started) / 1000)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] as number
  return { p50: at(0.5), p99: at(0.99), perSecond }
}

/**
 * Sends requests at a fixed rate, in turn to each of the hosts, without waiting for responses: a host that falls behind does not
 * slow the client down. Throws for a response with another status than 200.
 */
export async function atFixedRate(
  urls: readonly string[],
  { perSecond, seconds, next }: { perSecond: number; seconds: number; next: (index: number) => Request },
): Promise<Times> {
  const agent = new Agent({ keepAlive: true })
  const started = performance.now()
  const responses: Promise<number>[] = []
  for (let index = 0; index < perSecond * seconds; index++) {
    const due = started + (index * 1000) / perSecond
    while (performance.now() < due) await new Promise(resolve => setTimeout(resolve, due - performance.now()))
    responses.push(send(agent, urls[index % urls.length] as string, next(index), due))
  }
  return timesSince(started, await Promise.all(responses).finally(() => agent.destroy()))
}

function send(
  agent: Agent,
  url: string,
  { path, method = 'GET', headers = {}, body }: Request,
  due: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url + path, { agent, method, headers }, response => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - due)
        else reject(new Error(`${path} got ${response.statusCode}: ${text}`))
      })
    })
    outgoing.once('error', reject).end(body)
  })
}
