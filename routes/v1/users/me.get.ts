import { createRoute, type z } from '@hono/zod-openapi'
import { endpoint } from '../../endpoint.ts'
import { requireUser } from '../../middleware/gates.ts'
import { errors, json, signedIn } from '../../openapi/answers.ts'
import { User } from '../../schemas/user.ts'

export const getMe = endpoint({
  route: createRoute({
    method: 'get',
    path: '/v1/users/me',
    operationId: 'getMe',
    tags: ['Identity'],
    summary: 'The caller',
    description: 'The row of the caller, created on first sight.',
    security: signedIn,
    responses: { 200: json(User, 'The caller.'), ...errors(401) },
  }),
  gates: [requireUser],
  handle: async (c) => {
    const { id, email, display_name, operation_role, panel_role } = c.var.user
    const answer: z.input<typeof User> = { id, email, display_name, operation_role, panel_role }
    return c.json(answer)
  },
})
