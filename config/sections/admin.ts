import * as v from 'valibot'
import { text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { Config } from '../types.ts'

export const adminSchema = v.object({ default_root_email: text('') })

export const readAdmin = (source: Source): Config['admin'] => source.section('admin', adminSchema).values
