import type { Budget } from '../../client/api/client.ts'
import { formatMoney, formatNumber } from '../words.ts'

const amount = (value: number, { unit }: Budget): string =>
  unit === 'tokens' ? formatNumber(value) : formatMoney(value)

/** Shows what is left of the model budgets; nothing without any. */
export function BudgetsLeft({ budgets, is_own }: { budgets: readonly Budget[]; is_own: boolean }) {
  if (budgets.length === 0) return null
  const owners = {
    round: 'for this round',
    user_day: is_own ? 'for you' : 'for this user',
    platform_day: 'for all users',
  }
  return (
    <ul class="small quiet number">
      {budgets.map((budget) => (
        <li key={`${budget.budget} ${budget.unit}`}>
          {amount(budget.left, budget)} of {amount(budget.limit, budget)}
          {budget.unit === 'tokens' && ' tokens'} left {owners[budget.budget]}
          {budget.budget !== 'round' && ' today (UTC)'}
        </li>
      ))}
    </ul>
  )
}
