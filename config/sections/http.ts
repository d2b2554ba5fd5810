import * as v from 'valibot'
import { textList } from '../fields.ts'
import type { Source } from '../source.ts'
import type { Config } from '../types.ts'

export const httpSchema = v.object({ cors_origins: textList(['http://localhost']) })

export const readHttp = (source: Source): Config['http'] => source.section('http', httpSchema).values
