import type { Reply } from '../../../shared/api.ts'
import type { ConsoleContext } from '../context.ts'
import type { Cap } from '../wire.ts'

/** For how many keys the caps are read at the same time. */
const AT_ONCE = 4

/** Reads the caps of a key: every cap of its policies, inherited ones included. */
export async function readKeyCaps(
  { call }: Pick<ConsoleContext, 'call'>,
  keyId: string,
): Promise<Reply<readonly Cap[]>> {
  const reply = await call<{ caps: readonly Cap[] }>(`/keys/${encodeURIComponent(keyId)}/caps`)
  return reply.ok ? { ok: true, data: reply.data.caps } : reply
}

/** Reads the caps of many keys, a few at a time. `found` gets each reply with the place of its key in the list. */
export async function readCaps(
  context: Pick<ConsoleContext, 'call'>,
  keyIds: readonly string[],
  found: (place: number, caps: Reply<readonly Cap[]>) => void,
): Promise<void> {
  let started = 0
  const readOnes = async (): Promise<void> => {
    for (let place = started++; place < keyIds.length; place = started++)
      found(place, await readKeyCaps(context, keyIds[place] as string))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readOnes))
}
