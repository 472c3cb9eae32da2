import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/testing'
import { validateCardSecrets, validateIssueReply, type CardIssuer, type CardOrder } from './card-issuer.ts'
import { passesLuhn } from './card-numbers.ts'
import { isRejection } from './rejection.ts'

/** An issuer and the test system that it calls. */
export interface CardIssuerUnderTest {
  readonly issuer: CardIssuer
  /** Counts the cards in the test system. */
  cards(): Promise<number>
  /** An order that the test system rejects, if there is one. */
  readonly rejectedOrder?: CardOrder
  /** The same issuer with a test system that cannot be reached. */
  readonly down?: CardIssuer
  /** The same issuer with a test system that sends malformed replies. */
  readonly malformed?: CardIssuer
  close(): Promise<void>
}

const order: CardOrder = {
  limit: { amountCents: 50_000, frequency: 'per30DayPeriod' },
  disposable: false,
}

/** The contract of `CardIssuer`: run it against every issuer. `open` is called once per test. */
export function cardIssuerContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<CardIssuerUnderTest>,
): void {
  const test = (title: string, run: (opened: CardIssuerUnderTest, id: string) => Promise<void>): void =>
    it(title, async () => {
      const opened = await open()
      await run(opened, `card_${randomUUID().replaceAll('-', '')}`).finally(() => opened.close())
    })
  const { signal } = new AbortController()

  describe(`CardIssuer ${name}`, () => {
    test('has a name that fits into a path', async ({ issuer }) => {
      assert.match(issuer.name, /^[a-z0-9-]{1,32}$/)
    })

    test('issues one card for an id that is ordered twice', async ({ issuer, cards }, id) => {
      const before = await cards()
      const first = await issuer.issue(id, order, signal)
      assert.equal(validateIssueReply(first), undefined)
      assert.deepEqual(await issuer.issue(id, order, signal), first)
      assert.equal(await cards(), before + 1)
    })

    test('issues one card for an id that is ordered 20 times at once', async ({ issuer, cards }, id) => {
      const before = await cards()
      const all = await Promise.all(Array.from({ length: 20 }, () => issuer.issue(id, order, signal)))
      for (const each of all) assert.deepEqual(each, all[0])
      assert.equal(await cards(), before + 1)
    })

    test('issues another card for another id', async ({ issuer, cards }, id) => {
      const before = await cards()
      await issuer.issue(id, order, signal)
      await issuer.issue(`${id}2`, order, signal)
      assert.equal(await cards(), before + 2)
      const numbers = [await issuer.reveal(id, signal), await issuer.reveal(`${id}2`, signal)]
      assert.notEqual(numbers[0]?.pan, numbers[1]?.pan, 'two cards have two numbers')
    })

    test('reveals the same number each time, which ends in last4 and has a check digit', async (opened, id) => {
      const { issuer } = opened
      const issued = await issuer.issue(id, order, signal)
      assert.ok(!isRejection(issued))
      const secrets = await issuer.reveal(id, signal)
      assert.equal(validateCardSecrets(secrets), undefined)
      assert.ok(secrets.pan.endsWith(issued.last4) && passesLuhn(secrets.pan))
      assert.deepEqual(await issuer.reveal(id, signal), secrets)
    })

    test('throws a fault for the number of an unknown card', async ({ issuer }, id) => {
      await assert.rejects(issuer.reveal(id, signal), Fault)
    })

    test('reports an expected no as a rejection, and issues nothing', async (opened, id) => {
      const { issuer, cards, rejectedOrder } = opened
      if (!rejectedOrder) return
      const before = await cards()
      assert.ok(isRejection(await issuer.issue(id, rejectedOrder, signal)), 'must be a `Rejection`')
      assert.equal(await cards(), before)
    })

    test('rejects when its signal is aborted', async ({ issuer }, id) => {
      await issuer.issue(id, order, signal)
      await assert.rejects(issuer.issue(`${id}2`, order, AbortSignal.abort()))
      await assert.rejects(issuer.reveal(id, AbortSignal.abort()))
    })

    test('throws a fault without digits of a card when it is down or reads nonsense', async (opened, id) => {
      for (const [code, issuer] of [
        ['ERR_PROVIDER_UNAVAILABLE', opened.down],
        ['ERR_PROVIDER_REPLY', opened.malformed],
      ] as const) {
        if (!issuer) continue
        for (const call of [() => issuer.issue(id, order, signal), () => issuer.reveal(id, signal)])
          await assert.rejects(call, error => {
            assert.ok(error instanceof Fault && error.code === code, `must be a Fault ${code}`)
            assert.doesNotMatch(
              error.message.replaceAll(/\D/g, ''),
              /\d{12}/,
              'the message has a card number',
            )
            return true
          })
      }
    })
  })
}
