import assert from 'node:assert/strict'
import { Fault } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/testing'
import { passesLuhn } from '../providers/cards/card-numbers.ts'
import { cardPort, type CardIssuer, type CardOrder } from '../providers/cards/port.ts'
import { isRejection } from '../providers/reply.ts'
import { assertFaults, assertName, assertValid, providerTests, signal } from './support.ts'

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
  runner: TestRunner,
  name: string,
  open: () => Promise<CardIssuerUnderTest>,
): void {
  const test = providerTests(runner, 'card', open)
  runner.describe(`CardIssuer ${name}`, () => {
    test('has a name that fits into a path', async ({ issuer }) => assertName(issuer))

    test('issues one card for an id that is ordered twice', async ({ issuer, cards }, id) => {
      const before = await cards()
      const first = await issuer.issue(id, order, signal)
      assertValid(first, cardPort.issue)
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
      assertValid(secrets, cardPort.reveal)
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
      const digits = /(?:\d\D*){12}/
      await assertFaults(opened, issuer => issuer.issue(id, order, signal), digits)
      await assertFaults(opened, issuer => issuer.reveal(id, signal), digits)
    })
  })
}
