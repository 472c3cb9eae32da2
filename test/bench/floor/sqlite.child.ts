// Payments by hand on an embedded SQLite that waits for the disk: what each must leave behind, and no more. Arguments: the path of the
// database, how many accounts have money, and how many payments share a commit. For each message with a number of seconds, it pays
// so long and sends the times.
import { createHash, randomUUID } from 'node:crypto'
import Database from 'libsql'

const [path = '', accounts = '', together = ''] = process.argv.slice(2)

const TABLES = `
  create table floor_requests (
    account integer not null, key text not null, fingerprint text not null, response text not null, until integer not null,
    primary key (account, key)
  ) without rowid;
  create table floor_caps (
    account integer not null, day integer not null, used integer not null, primary key (account, day)
  ) without rowid;
  create table floor_balances (account integer primary key, cents integer not null check (cents >= 0));
  create table floor_legs (
    account integer not null, payment text not null, cents integer not null, created_at integer not null,
    primary key (account, payment)
  ) without rowid;
  create table floor_payments (
    id text primary key, payer integer not null, payee integer not null, cents integer not null, memo text,
    created_at integer not null
  ) without rowid;
  create index floor_payments_payer on floor_payments (payer, created_at);
  create index floor_payments_payee on floor_payments (payee, created_at);`

const db = new Database(path)
db.exec('pragma journal_mode = wal; pragma synchronous = full')
db.exec(TABLES)
const open = db.prepare('insert into floor_balances values (?, 1000000000)')
db.exec('begin')
for (let account = 1; account <= Number(accounts); account++) open.run(account)
db.exec('commit')

const begin = db.prepare('begin immediate')
const commit = db.prepare('commit')
const known = db.prepare('select fingerprint, response from floor_requests where account = ? and key = ?')
const count = db.prepare(`insert into floor_caps as c values (?, ?, ?)
  on conflict (account, day) do update set used = c.used + excluded.used where c.used + excluded.used <= 1000000000`)
const take = db.prepare('update floor_balances set cents = cents - ? where account = ? and cents >= ?')
const give = db.prepare('update floor_balances set cents = cents + ? where account = ?')
const leg = db.prepare('insert into floor_legs values (?, ?, ?, ?)')
const payment = db.prepare('insert into floor_payments values (?, ?, ?, ?, null, ?)')
const request = db.prepare('insert into floor_requests values (?, ?, ?, ?, ?)')

/** Makes one payment in the open transaction. */
function pay(payer: number, payee: number, cents: number, key: string): void {
  const now = Date.now()
  const fingerprint = createHash('md5').update(`${payee} ${cents}`).digest('hex')
  if (known.get(payer, key)) throw new Error('the key was used')
  const changed = [count.run(payer, Math.floor(now / 86_400_000), cents), take.run(cents, payer, cents)]
  if (changed.some(({ changes }) => changes !== 1)) throw new Error('too much')
  give.run(cents, payee)
  const id = `pay_${randomUUID()}`
  leg.run(payer, id, -cents, now)
  leg.run(payee, id, cents, now)
  payment.run(id, payer, payee, cents, now)
  const response = JSON.stringify({
    ok: true,
    data: {
      payment: {
        id,
        direction: 'debit',
        counterparty: { walletAddress: payee },
        amountCents: cents,
        memo: null,
        status: 'completed',
        createdAt: now,
      },
    },
    summary: 'The payment is made.',
    errors: [],
  })
  request.run(payer, key, fingerprint, response, now + 86_400_000)
}

process.on('message', (seconds: number) => {
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const started = performance.now()
    begin.run()
    for (let index = 0; index < Number(together); index++) {
      const payer = 1 + Math.floor(Math.random() * Number(accounts))
      pay(payer, 1 + (payer % Number(accounts)), 1, randomUUID())
    }
    commit.run()
    const took = performance.now() - started
    for (let index = 0; index < Number(together); index++) times.push(took)
  }
  process.send?.(times)
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
