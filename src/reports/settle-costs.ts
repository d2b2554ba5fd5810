import type { GenerateReport } from './schemas.ts'

type Costs = GenerateReport['estimated_costs']
type Row = Costs['breakdown'][number]

/** Amounts that differ by less are the same, because models round. */
const SAME = 0.005
const toCents = (value: number) => Math.round(value * 100) / 100

/**
 * Settles the costs of a report: the total is the sum of the fixed amounts of its rows, whatever the model added up. An
 * amount in a row whose price depends on use, or that costs nothing, moves into the row's notes, so that the total is
 * also the sum of all rows. What was corrected, and amounts in another currency, are told in the introduction. A total
 * without any row is kept, since there is nothing to add up, and is called so.
 */
export function settleCosts(costs: Costs): Costs {
  const { currency, total_fixed_monthly_cost: told, breakdown } = costs
  const rows = breakdown.map((row) => settleRow(row, currency))
  const total = rows.length === 0 ? told : toCents(rows.reduce((sum, row) => sum + row.fixed_monthly_cost, 0))
  const others = foreignCurrencies(breakdown, currency)
  const remarks = [
    Math.abs(total - told) >= SAME
      ? `The total is the sum of the fixed amounts, ${money(currency, total)}; the estimate itself gave ` +
        `${money(currency, told)}.`
      : '',
    rows.length === 0 && told !== 0 ? 'The estimate does not say what the total consists of.' : '',
    others.length > 0
      ? `Notes name amounts in ${others.join(' and ')}; every amount of the table counts as ${currency}, none was ` +
        'converted.'
      : '',
  ]
  const introduction = [costs.introduction_paragraph.trim(), ...remarks].filter((text) => text !== '').join(' ')
  return { ...costs, total_fixed_monthly_cost: total, introduction_paragraph: introduction, breakdown: rows }
}

function settleRow(row: Row, currency: string): Row {
  if (row.pricing_model === 'fixed' || row.fixed_monthly_cost === 0) return row
  const remark = `${money(currency, row.fixed_monthly_cost)} is not fixed and is not part of the total.`
  return { ...row, fixed_monthly_cost: 0, notes: [row.notes.trim(), remark].filter((text) => text !== '').join(' ') }
}

const money = (currency: string, amount: number): string => `${currency} ${amount.toFixed(2)}`

const SIGNS: Record<string, string> = { '€': 'EUR', '£': 'GBP', '¥': 'JPY' }
const CODES = 'USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|BRL|CNY|SEK|NOK|DKK|PLN'
const AMOUNT = new RegExp(`([€£¥])\\s?\\d|\\d\\s?([€£¥])|\\b(${CODES})\\s?\\d|\\d\\s?(${CODES})\\b`, 'g')

/** Currencies of amounts in the notes that are not the one of the report, each once. */
function foreignCurrencies(rows: readonly Row[], currency: string): string[] {
  const named = rows.flatMap(({ notes }) =>
    [...notes.matchAll(AMOUNT)].map(([, before, after, code, codeAfter]) => {
      const sign = before ?? after
      return sign === undefined ? (code ?? codeAfter ?? '') : (SIGNS[sign] ?? '')
    }),
  )
  return [...new Set(named)].filter((name) => name !== '' && name !== currency)
}
