# frozen_string_literal: true

require "test_helper"
require_relative "../support/blog"

# What models do on SQLite they do on PostgreSQL and on MariaDB: the same tests, again.
%w[associations attribute_types attributes callbacks dirty enum inheritance locking merging persistence querying relation styles timestamps
  store serialization test transactions uniqueness relation/batches relation/calculations relation/conditions relation/creation relation/eager relation/finders
  relation/joins relation/ordering relation/paging relation/selection relation/writes pages pages/keyset association/collection association/counting
  association/dependents association/nested association/polymorphic association/single association/through].each do |name|
  before = PeltonTest.subclasses
  require_relative "../#{name}_test"
  test = (PeltonTest.subclasses - before).first || Object.const_get("#{name.split("/").last.camelize}Test")
  {Postgres: [:postgres_address, "pg"], MariaDB: [:mariadb_address, "trilogy"]}.each do |database, (address, driver)|
    on_server = Class.new(test) do
      define_method(:connect_database) do
        require driver
        connect(send(address))
      end
    end
    Object.const_set(:"#{test.name}On#{database}", on_server)
  end
end
