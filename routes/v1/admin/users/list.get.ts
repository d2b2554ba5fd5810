import { z } from '@hono/zod-openapi'
import { listUsers } from '../../../../src/access/users.ts'
import { requirePanel } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { json } from '../../../openapi/answers.ts'
import { toPage } from '../../../schemas/page.ts'
import { UserPage } from '../../../schemas/user.ts'
import { textFilter } from '../../../validation/fields.ts'
import { pageQuery } from '../../sessions/list.get.ts'

const UserListQuery = z.object({ ...pageQuery, search: textFilter(254, 'Part of the e-mail or of the display name.') })

export const getAdminUserList = endpoint({
  method: 'get',
  path: '/v1/admin/users',
  operationId: 'getAdminUserList',
  tags: ['Administration'],
  summary: 'Users',
  description: 'All users that have signed in, oldest first. For panel role admin.',
  request: { query: UserListQuery },
  answer: json(UserPage, 'One page.'),
  gate: requirePanel('admin'),
  handle: async (c, { query }) => toPage(await listUsers(c.var.platform.sql, query), query),
})
