import { AWS_IMPORT_FORMS } from './aws-import-forms.ts'

/**
 * The identifier by which the engine's AWS provider imports a resource that an inventory lists by its ARN; null when
 * the provider expects the ARN itself, or when it is not known what it expects.
 * @param address address of the resource block
 * @param resourceId ARN of the resource
 * @param providerRegion where the provider of the block works; null when the code does not say it
 */
export function awsImportId(address: string, resourceId: string, providerRegion: string | null = null): string | null {
  const type = address.replace(INDEXES, '').split('.').at(-2) ?? ''
  const form = Object.hasOwn(AWS_IMPORT_FORMS, type) ? AWS_IMPORT_FORMS[type] : undefined
  const arn = /^arn:(aws[a-z-]*):[a-z0-9-]+:([a-z0-9-]*):(\d*):(.+)$/.exec(resourceId)
  if (!form || !arn) return null
  const [, partition = '', region = '', account = '', resource = ''] = arn
  const id = form({ partition, region, account, resource, providerRegion })
  return id === '' || id.startsWith('@') || id.endsWith('@') || id === resourceId ? null : id
}

const INDEXES = /\[(?:"(?:\\.|[^"\\])*"|\d+)\]/g
