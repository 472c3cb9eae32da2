import { readScopes } from './rights.ts'

type TemplateId = 'read' | 'agent' | 'server' | 'custom'

/** What a key of a template may do, before its limits. */
export interface Template {
  readonly id: TemplateId
  readonly name: string
  readonly text: string
  /** Chooses from the scopes that a key can have. For `custom` a person chooses. */
  readonly scopes: (all: readonly string[]) => readonly string[]
  /** The limits that the form proposes, in cents. */
  readonly proposes?: { readonly each: number; readonly day: number }
}

/** What an agent with an allowance may do beside reading. */
const AGENT_WRITES = ['bills.write', 'payments.write', 'subscriptions.write']

/** What a new key is for. The first one is chosen at the start. */
export const TEMPLATES: readonly Template[] = [
  {
    id: 'read',
    name: 'Read only',
    text: 'Sees everything but card numbers, and changes nothing.',
    scopes: readScopes,
  },
  {
    id: 'agent',
    name: 'Agent with an allowance',
    text: 'Reads, and pays up to the limits below.',
    scopes: all => all.filter(scope => readScopes([scope]).length > 0 || AGENT_WRITES.includes(scope)),
    proposes: { each: 1000, day: 5000 },
  },
  {
    id: 'server',
    name: 'Server',
    text: 'Everything that you may do. Name the addresses of your servers below.',
    scopes: all => all,
  },
  { id: 'custom', name: 'Custom', text: 'Choose its rights one by one.', scopes: () => [] },
]
