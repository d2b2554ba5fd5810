import { z } from '@hono/zod-openapi'
import { assignRoles, OPERATION_ROLES, PANEL_ROLES } from '../../../../src/access/users.ts'
import { actorOf, requirePanel } from '../../../access.ts'
import { endpoint } from '../../../endpoint.ts'
import { errorAnswer, json } from '../../../openapi/answers.ts'
import { AdminUser } from '../../../schemas/user.ts'
import { pathInteger } from '../../../validation/fields.ts'

export const RolesRequest = z
  .object({
    operation_role: z.enum(OPERATION_ROLES),
    panel_role: z
      .enum(PANEL_ROLES)
      .nullish()
      .transform((role) => role ?? null)
      .describe('Left out or null: no access to the admin panel.'),
  })
  .openapi('RolesRequest', { example: { operation_role: 'devops', panel_role: 'editor' } })

export const putRoles = endpoint({
  method: 'put',
  path: '/v1/admin/users/{user_id}/roles',
  operationId: 'putRoles',
  tags: ['Administration'],
  summary: 'Assign roles',
  description:
    'Sets both roles at once; a panel role that is left out is taken away. ' +
    'In force from the next request of that user. For panel role admin, who cannot take it from themselves.',
  request: { params: z.object({ user_id: pathInteger('Key of the user row.') }), body: RolesRequest },
  answer: json(AdminUser, 'The user with the new roles.'),
  errors: [
    errorAnswer(404, 'Unknown user.', 'User 7 not found.'),
    errorAnswer(
      409,
      'Admins would lose the panel role admin by their own hand.',
      'A panel admin cannot remove their own admin role',
    ),
  ],
  gate: requirePanel('admin'),
  handle: async (c, { params, body }) => {
    const user = await assignRoles(c.var.platform.sql, c.var.user.id, params.user_id, body, actorOf(c))
    const { operation_role, panel_role } = user
    c.var.log.info('roles assigned', { to_user_id: user.id, operation_role, panel_role })
    return user
  },
})
