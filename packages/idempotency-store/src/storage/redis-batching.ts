import { Fault, malformedReply } from '@gatewright/kernel'
import { batch } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScriptOnKeys } from '@gatewright/kernel/internal/redis'
import type { ScriptPair } from './redis-scripts.ts'

/** Records per command. It is small because the server serves no other client while a script runs. */
const BATCH_SIZE = 32

/** Sends the command of one record, whose key and index have one hash slot. Resolves to its reply. */
export type SendKeyCommand = (call: {
  readonly keys: readonly [record: string, index: string]
  readonly args: readonly string[]
}) => Promise<unknown>

/** Returns a function that runs a script on one record. */
export function single(client: RedisClient, { single: script }: ScriptPair): SendKeyCommand {
  return ({ keys, args }) => runScriptOnKeys(client, script, keys, args)
}

/**
 * Returns a function that sends several calls of a method in one command, if the client may send keys of different hash slots
 * in one command.
 */
export function batched(client: RedisClient, scripts: ScriptPair): SendKeyCommand {
  const sendSingle = single(client, scripts)
  if (!client.standalone) return sendSingle
  return batch(BATCH_SIZE, { sendSingle, sendBatch: calls => sendBatch(client, scripts, calls) })
}

async function sendBatch(
  client: RedisClient,
  scripts: ScriptPair,
  calls: readonly Parameters<SendKeyCommand>[0][],
): Promise<readonly unknown[]> {
  const keys = calls.flatMap(call => call.keys)
  const args = calls.flatMap(call => call.args)
  try {
    const replies = await runScriptOnKeys(client, scripts.batch, keys, args)
    if (!Array.isArray(replies) || replies.length !== calls.length) {
      throw malformedReply('redis', `${calls.length} replies`)
    }
    return replies
  } catch (error) {
    if (!isCrossSlot(error)) throw error
    // The server is a cluster node and has run nothing: send each call separately.
    return calls.map(single(client, scripts))
  }
}

const isCrossSlot = (error: unknown): boolean =>
  error instanceof Fault && error.cause instanceof Error && error.cause.message.startsWith('CROSSSLOT')
