# Checking connections out and returning them. Each line is a call.
pool.class
pool.db_config.name
pool.release_connection.class
pool.active_connection?
Author.count.positive?
Author.with_connection { |connection| connection.select_value("SELECT 1").to_i }
Author.with_connection { |one| Author.with_connection { |two| one.equal?(two) } }
Author.with_connection { |connection| connection.in_use? }
Author.with_connection { |connection| connection.pool.equal?(pool) }
Author.with_connection { |connection| connection.owner == ActiveSupport::IsolatedExecutionState.context }
error { Author.with_connection { raise "wrong" } }
Author.lease_connection.equal?(Author.lease_connection)
Author.lease_connection.equal?(Author.with_connection { |connection| connection })
pool.active_connection?.class
Author.lease_connection.class
Author.release_connection
pool.active_connection?
pool.lease_connection.in_use?
pool.release_connection
Author.connected?
Author.connection_pool.equal?(Post.connection_pool)
Author.connection_pool.equal?(Book.connection_pool)
Author.connection_specification_name
Author.connection_db_config.name
Book.connection_db_config.name
room { pool.checkout.then { |connection| [connection.in_use?, pool.checkin(connection)] }.first ? true : false }
room { pool.with_connection { |one| beside { pool.with_connection { |two| !one.equal?(two) } } } }
room { beside { Author.lease_connection.in_use? && Author.release_connection } }
room { beside { Author.count.positive? } }
room { error { beside { raise "in another" } } }
room { Author.transaction { beside { Author.connection.open_transactions } } }
pool.size
pool.stat.keys.sort
pool.stat[:size]
pool.checkout_timeout
pool.automatic_reconnect
pool.schema_cache.class
Author.connection.adapter_name
Author.connection.raw_connection.class
Author.connection.tap(&:verify!).active?
Author.connection.tap(&:reconnect!).active?
Author.count.positive?
Author.connection.tap(&:reset!).active?
Author.count.positive?
Author.connection.tap(&:disconnect!).active?
Author.count.positive?
Author.connection.tap(&:throw_away!).class
Author.count.positive?
Author.connection.quote("it's")
Author.connection.quote_column_name("name").size
Author.connection.table_exists?(Author.table_name)
Author.connection.column_exists?(Author.table_name, :name)
Author.connection.indexes(Author.table_name).map(&:columns)
Author.connection.primary_key(Author.table_name)
Author.columns.map(&:name)
Author.column_names.size
Author.connection.schema_cache.class.name.split("::").last
Author.sanitize_sql(["name = ?", "it's"])
ActiveRecord::Base.connection_handler.connection_pool_names.grep(/Comparison/).sort
ActiveRecord::Base.connection_handler.active_connections?(:all).class
Author.connection.execute("SELECT 1").class.name.split("::").first
Author.connection.exec_query("SELECT 2 AS two").to_a
Author.connection.select_one("SELECT 3 AS three")
Author.connection.exec_query("SELECT 1 AS one").columns
Author.connection.prepared_statements
Author.connection.unprepared_statement { Author.count.positive? }
Pelton::ActiveRecord.with_connections { Author.lease_connection.in_use? }
pool.active_connection?
Pelton::ActiveRecord.with_connections { Pelton::ActiveRecord.with_connections { Author.lease_connection } && pool.active_connection?.equal?(Author.lease_connection) }
error { Pelton::ActiveRecord.with_connections { raise "wrong" } }
