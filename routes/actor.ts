import type { Context } from 'hono'
import { type Actor, userActor } from '../src/access/audit/record.ts'
import type { AppEnv } from './env.ts'

/** The caller as the record of who did what names them. Only behind a gate that requires a signed-in caller. */
export const actorOf = (c: Context<AppEnv>): Actor => userActor(c.var.user, c.var.address)
