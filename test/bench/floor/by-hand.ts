import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { runPgbench } from '../pgbench.ts'
import { timesOf, type LoadResult } from './times.ts'

/**
 * Tables with what a payment must leave behind, and no more: the record of its key with the stored response, the counter of a cap, two legs, two
 * balances and a business row.
 */
const TABLES = `
  create table floor_requests (
    account bigint, key text, fingerprint text not null, response text not null, until bigint not null,
    primary key (account, key)
  );
  create table floor_caps (account bigint, day bigint, used bigint not null, primary key (account, day)) with (fillfactor = 50);
  create table floor_balances (account bigint primary key, cents bigint not null check (cents >= 0)) with (fillfactor = 50);
  create table floor_legs (
    account bigint, payment text, cents bigint not null, created_at bigint not null, primary key (account, payment)
  );
  create table floor_payments (
    id text primary key, payer bigint not null, payee bigint not null, cents bigint not null, memo text,
    created_at bigint not null
  );
  create index floor_payments_payer on floor_payments (payer, created_at);
  create index floor_payments_payee on floor_payments (payee, created_at);`

/** The whole payment in one call. Balances are locked in the order of accounts, so that no two payments wait for each other. */
const FUNCTION = `
  create function floor_pay(payer_account bigint, payee_account bigint, amount bigint, request_key text) returns text
  language plpgsql as $$
  declare
    now_ms constant bigint := floor(extract(epoch from clock_timestamp()) * 1000);
    day_ms constant bigint := now_ms / 86400000;
    payment constant text := 'pay_' || replace(gen_random_uuid()::text, '-', '');
    fingerprint_given constant text := md5(payee_account || ' ' || amount);
    done constant text := json_build_object('ok', true, 'data', json_build_object('payment', json_build_object(
      'id', payment, 'direction', 'debit', 'counterparty', json_build_object('walletAddress', payee_account),
      'amountCents', amount, 'memo', null, 'status', 'completed', 'createdAt', now_ms)),
      'summary', 'The payment is made.', 'errors', '[]'::json);
    stored record;
  begin
    insert into floor_requests values (payer_account, request_key, fingerprint_given, done, now_ms + 86400000)
      on conflict do nothing;
    if not found then
      select response, fingerprint into stored from floor_requests where account = payer_account and key = request_key;
      if stored.fingerprint <> fingerprint_given then raise 'key reused'; end if;
      return stored.response;
    end if;
    insert into floor_caps as c values (payer_account, day_ms, amount)
      on conflict (account, day) do update set used = c.used + excluded.used where c.used + excluded.used <= 1000000000;
    if not found then raise 'cap exceeded'; end if;
    if payer_account > payee_account then
      update floor_balances set cents = cents + amount where account = payee_account;
    end if;
    update floor_balances set cents = cents - amount where account = payer_account and cents >= amount;
    if not found then raise 'balance too low'; end if;
    if payer_account < payee_account then
      update floor_balances set cents = cents + amount where account = payee_account;
    end if;
    insert into floor_legs values (payer_account, payment, -amount, now_ms), (payee_account, payment, amount, now_ms);
    insert into floor_payments values (payment, payer_account, payee_account, amount, null, now_ms);
    return done;
  end $$`

/** Payments by hand on one database. */
export interface PaymentsByHand {
  /** Runs payments for some seconds: of one account, or between all of them. */
  run(clients: number, accounts: number, seconds: number): Promise<LoadResult>
  close(): Promise<void>
}

/** Creates the tables in a schema of their own, and money for so many accounts. */
export async function paymentsByHand(url: string, accounts: number): Promise<PaymentsByHand> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=floor' })
  await client.connect()
  await client.query('create schema floor')
  await client.query(TABLES)
  await client.query(FUNCTION)
  await client.query('insert into floor_balances select n, 1000000000 from generate_series(1, $1) n', [
    accounts,
  ])
  await client.query('vacuum analyze floor_balances')
  return {
    async run(clients, among, seconds) {
      const directory = mkdtempSync(join(tmpdir(), 'gatewright-floor-'))
      try {
        const file = join(directory, 'pay.sql')
        writeFileSync(file, among === 1 ? PAY_ONE : PAY_MANY)
        const flags = [
          '-f',
          file,
          '-c',
          String(clients),
          '-j',
          '1',
          '-T',
          String(seconds),
          '-D',
          `accounts=${among}`,
        ]
        await runPgbench(url, 'floor', [...flags, '-l', '--log-prefix', join(directory, 'log')])
        const lines = readdirSync(directory)
          .filter(name => name.startsWith('log'))
          .flatMap(name => readFileSync(join(directory, name), 'utf8').trim().split('\n'))
        // The third field is the time of the transaction in microseconds.
        return timesOf(
          lines.map(line => Number(line.split(' ')[2]) / 1000),
          seconds,
        )
      } finally {
        rmSync(directory, { recursive: true, force: true })
      }
    },
    close: () => client.end(),
  }
}

const KEY = '\\set key random(1, 9000000000000000000)\n'
const PAY_ONE = `${KEY}select floor_pay(1, 2, 1, cast(:key as text));\n`
const PAY_MANY = `${KEY}\\set payer random(1, :accounts)
\\set payee 1 + (:payer + random(0, :accounts - 2)) % :accounts
select floor_pay(:payer, :payee, 1, cast(:key as text));
`
