import { expect, it } from 'vitest'
import { MASK } from '../../src/base/masking.ts'
import { maskFirstRequest } from '../../src/pull-requests/shown-rounds.ts'

const QUERY = 'Set hunter2-x as password, hunter2-x again'
const turn = (user: string) => ({ user, assistant: 'Done.' })

it.each([
  [
    'in the masked form that was kept',
    [turn(`Set ${MASK} as password, ${MASK} again`)],
    `Set ${MASK} as password, ${MASK} again`,
  ],
  ['masked as a whole', [turn(MASK)], MASK],
  ['masked in a later turn', [turn('Something else'), turn(`Set ${MASK} again`)], `Set ${MASK} again`],
  ['as typed without history', [], QUERY],
  ['as typed when nothing was masked', [turn(QUERY)], QUERY],
  ['as typed when the masked turn is of another request', [turn(`Use ${MASK} as password, ${MASK} again`)], QUERY],
  ['as typed when another request ends differently', [turn(`Set ${MASK} as password`)], QUERY],
  ['as typed when parts would overlap', [turn(`${QUERY}${MASK}again`)], QUERY],
])('shows the request %s', (_, history, shown) => {
  expect(maskFirstRequest(QUERY, history)).toBe(shown)
})
