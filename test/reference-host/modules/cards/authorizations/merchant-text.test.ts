import t from 'tap'
import { shownText } from '#packages/reference-host/dist/modules/cards/authorizations/merchant-text.js'

t.test('keeps a text about a merchant as it can be shown', async t => {
  for (const [given, shown] of [
    ['Corner Shop', 'Corner Shop'],
    ['CORNER\tSHOP      BERLIN', 'CORNER SHOP BERLIN'],
    ['  SQ *COFFEE\r\n', 'SQ *COFFEE'],
    ['Cafe\u0301', 'Café'],
    ['A\u0000\u0001B', 'A B'],
    ['A\u00a0\u3000B', 'A B'],
    ['A\ufffd\ufffd B\ufffd', 'A B'],
    ['\u30ab\u3099', '\u30ac'],
    ['', null],
    [' \t ', null],
    ['\u200b\u200e', null],
    [null, null],
    [undefined, null],
    ['x'.repeat(101), 'x'.repeat(100)],
    ['😀'.repeat(101), '😀'.repeat(100)],
  ] as const)
    t.equal(shownText(given), shown, JSON.stringify(given))
})
