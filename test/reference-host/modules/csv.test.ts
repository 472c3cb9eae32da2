// The cells of CSV documents, as spreadsheets read them.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { csvAmount, csvInteger, csvLine } from '#packages/reference-host/dist/modules/csv.js'

const columns = {
  id: ({ id }: { id: string }) => id,
  memo: ({ memo }: { memo: string | null }) => memo,
  amount: () => csvAmount(1250),
  cents: () => csvInteger(1250),
}
const line = (memo: string | null): string => csvLine(columns, { id: 'pay_1', memo })

/** Splits a document as a spreadsheet does: a quote counts at the start of a cell only, and what follows its end belongs to the cell. */
function cellsOf(document: string, separator: string): string[] {
  const cells: string[] = []
  let at = 0
  while (at < document.length) {
    let cell = ''
    if (document[at] === '"') {
      at += 1
      while (at < document.length && (document[at] !== '"' || document[at + 1] === '"')) {
        cell += document[at] as string
        at += document[at] === '"' ? 2 : 1
      }
      at += 1
    }
    while (at < document.length && document[at] !== separator && !/[\r\n]/.test(document[at] as string)) {
      cell += document[at] as string
      at += 1
    }
    cells.push(cell)
    at += 1
  }
  return cells
}

t.test('quotes every text, and no number', async t => {
  t.equal(line('Lunch'), '"pay_1","Lunch",12.50,1250\r\n')
  t.equal(line('12'), '"pay_1","12",12.50,1250\r\n')
  t.equal(line(''), '"pay_1","",12.50,1250\r\n')
  t.equal(line(null), '"pay_1",,12.50,1250\r\n')
  t.equal(line('a "b"; c, d'), '"pay_1","a ""b""; c, d",12.50,1250\r\n')
})

const HOSTILE = [
  '=1+1',
  '+1',
  '-1',
  '@x',
  ' =1',
  '＝1',
  '\t=1',
  'x;=1',
  'x; =1',
  'x;"=1',
  'x\t@1',
  'x\n+1',
  'x\r\n-1',
  '";=1',
  '"\t=1',
  '";"=1',
  'x;;=1',
]

/** The cells of a memo's line that a spreadsheet would run, read with each separator. */
const formulas = (memo: string): string[] =>
  [',', ';', '\t'].flatMap(separator =>
    cellsOf(line(memo), separator).filter(cell => /^[\s"]*[=+\-@＝＋－＠]/u.test(cell)),
  )

t.test('no separator makes a formula of a text', async t => {
  for (const memo of HOSTILE) t.same(formulas(memo), [], JSON.stringify(memo))
  const piece = fc.constantFrom(...'=+-@＝＋－＠;,\t\r\n"\' aé1'.split(''), '";=', '\t=')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      assert.deepEqual(formulas(pieces.join('')), [])
    }),
  )
})

t.test(
  'a program that reads commas gets each text back, with an apostrophe before what could be a formula',
  async t => {
    const piece = fc.constantFrom(...'=;,\t\r\n" aé1'.split(''))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
        const memo = pieces.join('')
        assert.equal(cellsOf(line(memo), ',')[1]?.replaceAll("'", ''), memo)
      }),
    )
    t.equal(cellsOf(line('a; b, "c"'), ',')[1], 'a; b, "c"')
  },
)
