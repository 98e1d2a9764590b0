# For scripts/checks/layers, so that the table has one reader: `folder: what;it;may;use`, bottom to top.
include(${TABLE})
foreach(folder IN LISTS MNET_LAYERS)
  message("${folder}: ${MNET_MAY_USE_${folder}}")
endforeach()
