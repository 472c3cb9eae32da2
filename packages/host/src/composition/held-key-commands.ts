import { isoOrNull } from '../cli/cell.ts'
import { CommandError, UsageError, type Command, type CommandArguments } from '../cli/command.ts'
import { listCommand, MAX_LISTED } from '../cli/list.ts'
import { listHeldKeys, releaseAllKeys, releaseKeys } from '../records/held-keys.ts'
import { operatorActions } from '../records/operator-actions.ts'
import type { HostServices } from './host-services.ts'

/** Commands on keys that are held since a restore. */
export const heldKeyCommands: readonly Command<Pick<HostServices, 'db' | 'clock'>>[] = [
  listCommand({
    name: 'keys held',
    takes: [],
    summary: `List keys that are denied since a restore, at most ${MAX_LISTED}`,
    example: '',
    rows: async ({ db }: Pick<HostServices, 'db'>) =>
      (await listHeldKeys(db, MAX_LISTED)).map(({ heldAt, ...key }) => ({
        ...key,
        heldAt: isoOrNull(heldAt),
      })),
    columns: { KEY: 'keyId', ACCOUNT: 'accountId', HELD: 'heldAt' },
    dropFirst: ['HELD'],
    empty: 'No key is held.',
  }),
  {
    name: 'keys release',
    takes: ['[KEY_OR_ACCOUNT]'],
    flags: { all: 'release every held key' },
    summary: 'Accept a held key again, or the held keys of an account',
    example: '4fJ2sVbXq81TzKpL',
    confirm: 'A key that was revoked after the restored state of the database works again.',
    check: targetOf,
    async subject(_, args) {
      const target = targetOf(args)
      return target === undefined ? 'Release every held key.' : `Release the held keys of ${target}.`
    },
    async run({ db, clock }, args) {
      const target = targetOf(args)
      const released = await db.transaction(async tx => {
        const count = target === undefined ? await releaseAllKeys(tx) : await releaseKeys(tx, target)
        const detail = `released ${count} held keys${target === undefined ? '' : ` of ${target}`}`
        const action = { at: clock.now(), command: 'keys release', accountId: '', detail }
        if (count > 0) await operatorActions.record(tx, action)
        return count
      })
      if (released === 0 && target !== undefined)
        throw new CommandError(`no held key ${target}: see npx gatewright keys held`)
      return { data: { released }, lines: [`Released: ${released}.`] }
    },
  },
]

/** The key or account whose keys are released; undefined: all. */
function targetOf({ positional: [target], flags }: CommandArguments): string | undefined {
  if ((target === undefined) === flags.has('all')) return target
  throw new UsageError('keys release takes KEY_OR_ACCOUNT, or --all')
}
