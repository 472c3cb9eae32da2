import type { HostServices } from '@gatewright/host'
import { operationTable, restoredCommand } from '@gatewright/host/internal'
import { listCommand, type Command } from '@gatewright/host/cli'

/** Commands on the host itself. */
export const commands: readonly Command<HostServices>[] = [
  restoredCommand,
  listCommand({
    name: 'operations',
    readsStores: false,
    takes: [],
    summary: 'Print every operation with its credential, scopes and limits',
    example: '',
    rows: async services =>
      operationTable(services).map(({ id, method, paths, surface, credential, scopes = [], ...rest }) => ({
        id,
        method,
        paths,
        surface,
        credential,
        scopes,
        idempotent: 'write' in rest,
      })),
    columns: {
      OPERATION: 'id',
      METHOD: 'method',
      PATH: ({ paths }) => paths[0],
      CREDENTIAL: 'credential',
      SCOPES: 'scopes',
      IDEMPOTENT: ({ idempotent }) => (idempotent ? 'yes' : '-'),
    },
    dropFirst: ['IDEMPOTENT', 'SCOPES', 'CREDENTIAL'],
  }),
]
