import { Fault, malformedReply } from '@gatewright/kernel'
import { runScript, runScriptOnKeys, type RedisClient } from '@gatewright/kernel/redis'
import { batch } from './batching.ts'
import type { ScriptPair } from './redis-scripts.ts'

/** Keys per command. It is small because the server serves no other client while a script runs. */
const BATCH_SIZE = 32

/** Sends the command of one key. Resolves to its reply. */
export type SendKeyCommand = (call: {
  readonly key: string
  readonly args: readonly string[]
}) => Promise<unknown>

/**
 * Returns a function that sends several calls of a method in one command, if the client may send keys of different hash slots
 * in one command. `sendSingle` sends one call.
 */
export function batched(
  client: RedisClient,
  scripts: ScriptPair,
  sendSingle: SendKeyCommand,
): SendKeyCommand {
  if (!client.standalone) return sendSingle
  return batch(BATCH_SIZE, { sendSingle, sendBatch: calls => sendBatch(client, scripts, calls) })
}

/** Replaces `null` in the replies of a script: no script returns it, and a plain `SET ... NX GET` returns it for a new key. */
const NO_REPLY = ''

async function sendBatch(
  client: RedisClient,
  scripts: ScriptPair,
  calls: readonly Parameters<SendKeyCommand>[0][],
): Promise<readonly unknown[]> {
  const keys = calls.map(({ key }) => key)
  const args = calls.flatMap(call => call.args)
  try {
    const replies = await runScriptOnKeys(client, scripts.batch, keys, args)
    if (!Array.isArray(replies) || replies.length !== keys.length) {
      throw malformedReply('redis', `${keys.length} replies`)
    }
    return replies.map((reply: unknown) => reply ?? NO_REPLY)
  } catch (error) {
    if (!isCrossSlot(error)) throw error
    // The server is a cluster node and has run nothing: send each call separately.
    return calls.map(async call => (await runScript(client, scripts.single, call.key, call.args)) ?? NO_REPLY)
  }
}

const isCrossSlot = (error: unknown): boolean =>
  error instanceof Fault && error.cause instanceof Error && error.cause.message.startsWith('CROSSSLOT')
