import { appServices } from '../../composition/app-services.ts'
import { operations } from '../../composition/operations.ts'
import { aliasTable } from '../../product/aliases.ts'
import { UsageError, type Command, type StartCommand } from '../command.ts'

/** Runs the host in this process. It opens the stores itself. */
export const startCommand: StartCommand = {
  name: 'start',
  takes: [],
  summary: 'Run the host until Ctrl-C or SIGTERM, as npm start does',
  example: '',
  async start({ env, json }) {
    const { serve } = await import('../../composition/serve.ts')
    const served = await serve(env, json ? () => {} : text => console.log(text))
    if (!served.ok) throw new UsageError(served.problem)
    return { data: { url: served.url, partnerKey: served.partnerKey ?? null }, lines: [] }
  },
}

/** Commands on the host itself. */
export const hostCommands: readonly Command[] = [
  {
    name: 'migrate',
    takes: [],
    summary: 'Migrate the tables to their newest version',
    example: '',
    // Opening the stores has already migrated them.
    run: async () => ({ data: { migrated: true }, lines: ['The tables are up to date.'] }),
  },
  {
    name: 'operations',
    takes: [],
    summary: 'Print every operation with its credential, scopes and limits',
    example: '',
    async run({ container }) {
      const services = appServices(
        container,
        () => {},
        () => false,
      )
      const { serviceName, directUserKey } = services
      const table = operations(services, { serviceName, url: '/', aliases: aliasTable, directUserKey })
      const data = table.map(({ id, method, paths, surface, credential, scopes = [], ...rest }) => ({
        id,
        method,
        paths,
        surface,
        credential,
        scopes,
        idempotent: 'write' in rest,
      }))
      const rows = data.map(row => [
        row.id,
        row.method,
        row.paths[0],
        row.credential,
        row.scopes.join(' ') || '-',
        row.idempotent ? 'yes' : '-',
      ])
      return {
        data,
        table: [['OPERATION', 'METHOD', 'PATH', 'CREDENTIAL', 'SCOPES', 'IDEMPOTENT'], ...rows],
      }
    },
  },
]
