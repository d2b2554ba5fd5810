import { requirePanel } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { json, STORE_ERROR } from '../../../openapi/answers.ts'
import { SessionAggregate } from '../../../schemas/session.ts'
import { DetailQuery, readDetail } from '../../sessions/detail.get.ts'

export const getAdminSession = endpoint({
  method: 'get',
  path: '/v1/admin/sessions',
  operationId: 'getAdminSession',
  tags: ['Administration'],
  summary: 'One session of anybody',
  description: 'The session with its rounds and artifacts. For panel role viewer or higher, whoever owns it.',
  request: { query: DetailQuery },
  answer: json(SessionAggregate, 'The session.'),
  errors: [404, STORE_ERROR],
  gate: requirePanel('viewer'),
  handle: (c, { query }) => readDetail(c, query),
})
