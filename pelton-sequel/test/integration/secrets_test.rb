# frozen_string_literal: true

require "pg"
require "trilogy"
require "pelton/sql_text"
require_relative "../support/sequel_databases"

# What datasets, errors and the spans of queries show on each database, without the values.
class DatabaseSecretsTest < PeltonTest
  include SequelDatabases

  SECRET = "it's S3CR3T-\\-1"
  MARK = /S3CR3T/

  def self.each_database(name, &block)
    {sqlite: :sqlite_file, postgres: :postgres_address, mysql: :mariadb_address}.each do |type, address|
      define_method(:"test_#{name}_of_#{type}") do
        Pelton.run do
          @database = connect(send(address))
          @database.drop_table?(:accounts)
          @database.create_table(:accounts) do
            primary_key :id
            String :name, null: false, size: 50
            String :token, size: 50, unique: true
          end
          @accounts = @database[:accounts]
          @model = Class.new(Sequel::Model(@accounts))
          @model.create(name: "ann", token: SECRET)
          instance_exec(&block)
        ensure
          @database&.drop_table?(:accounts)
        end
      end
    end
  end

  each_database "datasets" do
    [@accounts.where(token: SECRET), @accounts.where(token: [SECRET, nil]),
      @accounts.where(Sequel.lit("token = ?", SECRET)),
      @accounts.where(Sequel.lit("token = #{@database.literal(SECRET)}")),
      @accounts.exclude(token: SECRET), @accounts.where(id: @accounts.where(token: SECRET).select(:id)),
      @accounts.where(token: SECRET).or(name: SECRET), @model.where(token: SECRET)].each do |dataset|
      shown = [dataset.inspect, told { dataset.nope }]

      assert_match(/accounts/, shown.first)
      shown.each { |text| refute_match MARK, text }
    end
  end

  each_database "errors" do
    @database.query_timeout = 0.2
    slow = {sqlite: long_statement, postgres: "SELECT pg_sleep(10)",
            mysql: "SELECT SLEEP(10)"}.fetch(@database.database_type)

    refute_match MARK,
      told(Pelton::TimeoutError) { @database.fetch(slow.sub("SELECT") { "SELECT #{@database.literal(SECRET)}, " }).all }
    refute_match MARK, told(Sequel::NoMatchingRow) { @accounts.first!(token: "#{SECRET}?") }
  end

  # As the spans of queries have them. Errors themselves say what the server says.
  each_database "spans" do
    texts = []
    subscription = Pelton::Notifications.subscribe("query.sequel") do |event|
      texts << Pelton::SQLText.without_values(event.payload[:sql],
        @database.database_type) << (event.error ? Pelton::SQLText.message_without_values(event.error.message) : "")
    end
    text = @database.literal(SECRET)
    ["INSERT INTO accounts (name, token) VALUES (#{text}, #{text})",
      "INSERT INTO accounts (name, token) VALUES (NULL, #{text})",
      "SELECT * FROM accounts WHERE token = #{text} AND nope = #{text}",
      "SELECT #{text} #{text} FROM",
      "SELECT * FROM accounts WHERE id = CAST(#{text} AS INTEGER) -- #{text}"].each do |sql|
      @database.run(sql)
    rescue Sequel::Error => error
      assert_kind_of Sequel::DatabaseError, error
    end

    assert_operator texts.count { |shown| !shown.empty? }, :>, 5
    texts.each { |shown| refute_match MARK, shown }
  ensure
    Pelton::Notifications.unsubscribe(subscription)
  end

  private

  def told(wanted = StandardError, &block) = assert_raises(wanted, &block).message
end
