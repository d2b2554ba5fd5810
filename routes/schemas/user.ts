import { z } from '@hono/zod-openapi'
import { OPERATION_ROLES, PANEL_ROLES } from '../../src/users/types.ts'

export const User = z
  .object({
    id: z.number().int().openapi({ description: 'Key of the user row, not the token subject.' }),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    operation_role: z.enum(OPERATION_ROLES),
    panel_role: z.enum(PANEL_ROLES).nullable().openapi({ description: 'null: no access to the admin panel.' }),
  })
  .openapi('User', {
    example: { id: 7, email: 'ada@example.org', display_name: 'Ada', operation_role: 'developer', panel_role: null },
  })
