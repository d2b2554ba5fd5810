import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Schema } from './types.ts'

/** The strict validator: it refuses unknown keywords and formats, whose promises would never be checked. */
const ajv = new Ajv2020({ allErrors: true, strictRequired: false, strictTypes: false })
addFormats.default(ajv, ['uuid', 'date-time', 'uri'])
ajv.addVocabulary(['x-optional', 'example'])

/** Returns one sentence per fault of a value; empty when it fits. Checks `format` too. */
export function findFaults(schema: Schema, value: unknown, where = 'body'): string[] {
  const validate = ajv.compile(schema)
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message = '', params }) => {
    const detail = params.additionalProperty ?? params.allowedValues
    return `${where}${instancePath.replaceAll('/', '.')} ${message}${detail ? `: ${JSON.stringify(detail)}` : ''}`
  })
}

export const fits = (schema: Schema, value: unknown): boolean => ajv.compile(schema)(value)
