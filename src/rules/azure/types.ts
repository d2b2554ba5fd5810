export const DOCS = 'https://learn.microsoft.com/azure'

// Types that take the same arguments, as tables name them.

export const WEB_APPS =
  'azurerm_linux_web_app,azurerm_windows_web_app,azurerm_linux_web_app_slot,azurerm_windows_web_app_slot'
export const FUNCTION_APPS =
  'azurerm_linux_function_app,azurerm_windows_function_app,azurerm_linux_function_app_slot,azurerm_windows_function_app_slot'
export const APPS = `${WEB_APPS},${FUNCTION_APPS},azurerm_app_service,azurerm_app_service_slot,azurerm_function_app,azurerm_function_app_slot`
export const SINGLE_SERVERS = 'azurerm_mysql_server,azurerm_postgresql_server,azurerm_mariadb_server'
export const SCALE_SETS =
  'azurerm_linux_virtual_machine_scale_set,azurerm_windows_virtual_machine_scale_set,azurerm_orchestrated_virtual_machine_scale_set'
