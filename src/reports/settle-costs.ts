import type { GenerateReport } from './schemas.ts'

type Costs = GenerateReport['estimated_costs']
type Row = Costs['breakdown'][number]

/** Smallest significant difference of amounts, because models round. */
const SAME = 0.005
const toCents = (value: number) => Math.round(value * 100) / 100

/**
 * Settles the costs of a report. The total becomes the sum of the rows' fixed amounts; amounts of usage-priced or free
 * rows move to their notes. The introduction states corrections and amounts in other currencies. A total without rows
 * is kept and labelled so.
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

/** Returns the distinct currencies of amounts in notes, except the report's own. */
function foreignCurrencies(rows: readonly Row[], currency: string): string[] {
  const named = rows.flatMap(({ notes }) =>
    [...notes.matchAll(AMOUNT)].map(([, before, after, code, codeAfter]) => {
      const sign = before ?? after
      return sign === undefined ? (code ?? codeAfter ?? '') : (SIGNS[sign] ?? '')
    }),
  )
  return [...new Set(named)].filter((name) => name !== '' && name !== currency)
}
