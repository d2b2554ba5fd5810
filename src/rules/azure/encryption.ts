import { encryptionRules } from '../encryption.ts'
import type { Rule } from '../types.ts'

/** Storage accounts, disks and flexible servers always encrypt: there is nothing to check. */
export const azureEncryptionRules: Rule[] = encryptionRules('azure', [
  { type: 'azurerm_mssql_database', path: 'transparent_data_encryption_enabled' },
  { type: 'azurerm_synapse_sql_pool', path: 'data_encrypted', offByDefault: true },
  { type: 'azurerm_managed_disk', path: 'encryption_settings.enabled' },
  { type: 'azurerm_data_lake_store', path: 'encryption_state', off: 'DISABLED' },
  { type: 'azurerm_automation_variable_string', path: 'encrypted', offByDefault: true },
])
