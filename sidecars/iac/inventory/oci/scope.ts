import { InventoryError } from '../types.ts'

/** `ocid1.<kind>.<realm>.[region][.reserved].<id>`; a tenancy is its root compartment. */
const COMPARTMENT =
  /^ocid1\.(?:compartment|tenancy)\.(oc[0-9]{1,4})\.[a-z0-9-]{0,64}\.(?:[a-z0-9-]{0,64}\.)?[a-z0-9]{1,255}$/

/**
 * The realm in which a compartment is, such as `oc1`. What passes holds nothing that a query could take for its own.
 * https://docs.oracle.com/iaas/Content/General/Concepts/identifiers.htm
 */
export function realmOf(scope_id: string): string {
  const realm = COMPARTMENT.exec(scope_id)?.[1]
  if (realm === undefined) throw new InventoryError(`'${scope_id}' is not an OCI compartment id`)
  return realm
}
