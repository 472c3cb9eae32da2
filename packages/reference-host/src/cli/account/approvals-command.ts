import { escapedLine } from '@gatewright/host/internal/commands'
import { money } from '@gatewright/host/internal'
import { CommandError, type StartCommand } from '@gatewright/host/cli'
import { call, keyLabelsOf, rowsOf, sessionOf, textsOf } from './host-client.ts'
import { type Login, readLogin } from './login-file.ts'

type Row = Readonly<Record<string, unknown>>

/** A session of a login. */
interface Session {
  readonly login: Login
  readonly headers: Readonly<Record<string, string>>
}

const pageOf = ({ host }: Login): string => `${host}/helper#/approvals`

/** Sends a request about approvals. A denial says what to do next. */
async function ask(
  { login, headers }: Session,
  path: string,
  method: 'GET' | 'POST',
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await call(login.host, `/user/v1/approvals${path}`, { method, headers })).data
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const next = nextStep(login, error.code)
    throw next === undefined ? error : new CommandError(`${error.message}\n${next}`, error.code)
  }
}

function nextStep(login: Login, code: string): string | undefined {
  if (code === 'insufficient_scope')
    return `The key of this login may not decide. Log in with npx gatewright login ${login.host} --scopes approvals.write, or decide at ${pageOf(login)}`
  if (code === 'no_answer') return 'Run the same command again: a decision counts once.'
  return undefined
}

async function openSession(env: NodeJS.ProcessEnv): Promise<Session> {
  const login = await readLogin(env)
  return { login, headers: await sessionOf(login) }
}

const readOpen = async (session: Session): Promise<readonly Row[]> =>
  rowsOf(session.login.host, await ask(session, '', 'GET'), 'approvals')

const listCommand: StartCommand = {
  name: 'approvals list',
  takes: [],
  summary: 'List the payments of keys below that of your login that wait for you',
  example: '',
  async start({ env }) {
    const session = await openSession(env)
    const open = await readOpen(session)
    const labels =
      open.length === 0 ? new Map<string, string>() : await keyLabelsOf(session.login.host, session.headers)
    return {
      data: open,
      table: {
        columns: [
          { head: 'APPROVAL', kind: 'id' },
          { head: 'STATE', kind: 'state' },
          { head: 'AMOUNT', kind: 'cents' },
          { head: 'KEY', kind: 'text' },
          { head: 'OPERATION', kind: 'text' },
          { head: 'PAYEE', kind: 'text' },
          { head: 'UNTIL', kind: 'instant' },
        ],
        rows: open.map(each => [
          each['id'],
          each['state'],
          each['amountCents'],
          labels.get(String(each['keyId'])) ?? each['keyId'],
          each['operation'],
          [each['payee']].flat().join(' or ') || null,
          each['expiresAt'],
        ]),
      },
      empty: `No payment waits for you here. Those of this login's own key are at ${pageOf(session.login)}`,
      ...(open.some(({ state }) => state === 'pending')
        ? { note: 'Decide with npx gatewright approvals approve APPROVAL, or deny.' }
        : {}),
    }
  },
}

/** Finds an approval that this login may decide. Throws a `CommandError` that says where others are decided. */
async function findOpen(session: Session, id: string): Promise<Row> {
  const found = (await readOpen(session)).find(each => each['id'] === id)
  if (found) return found
  throw new CommandError(
    `No payment with the approval ${JSON.stringify(id)} waits for this login: it was denied or made, it has expired, or another key must decide.\n` +
      `See npx gatewright approvals list, and ${pageOf(session.login)} for the payments of all keys`,
    'not_found',
  )
}

/** What is decided, as one line. */
function sentenceOf({ host }: Login, approval: Row): string {
  const { operation, keyId, expiresAt } = textsOf(host, approval, ['operation', 'keyId', 'expiresAt'])
  const payees = [approval['payee']].flat().join(' or ')
  const amount = money(Number(approval['amountCents']))
  return escapedLine(
    `${operation} of ${amount}${payees ? ` to ${payees}` : ''}, which the key ${keyId} asks for until ${expiresAt}`,
  )
}

function decisionCommand(name: 'approve' | 'deny'): StartCommand {
  const isApproval = name === 'approve'
  return {
    name: `approvals ${name}`,
    takes: ['APPROVAL'],
    summary: isApproval
      ? 'Let a payment that waits be made, once'
      : 'Deny a payment that waits; the program that asked is told',
    example: 'apr_q8yIuSBlGzyzJqWfbEMiT6hPlTGc6CqkZ6dSkbGtXx4',
    ...(isApproval ? { asks: true } : {}),
    async start({
      env,
      args: {
        positional: [id = ''],
      },
      confirm,
    }) {
      const session = await openSession(env)
      const sentence = sentenceOf(session.login, await findOpen(session, id))
      if (isApproval) await confirm(`Approve ${sentence}. Once it is made, it cannot be taken back.`)
      const { approval } = await ask(session, `/${encodeURIComponent(id)}/${name}`, 'POST')
      const next = isApproval
        ? 'The program makes it by the same request with the same Idempotency-Key.'
        : 'The same request is denied until then.'
      return { data: approval, lines: [`${isApproval ? 'Approved' : 'Denied'}: ${sentence}. ${next}`] }
    },
  }
}

/** Commands of an owner who decides about payments that keys ask for. */
export const approvalCommands: readonly StartCommand[] = [
  listCommand,
  decisionCommand('approve'),
  decisionCommand('deny'),
]
