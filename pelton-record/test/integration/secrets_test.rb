# frozen_string_literal: true

require "pg"
require "trilogy"
require "pelton/sql_text"
require_relative "../support/record_databases"

# What relations, datasets, errors of Record and the spans of queries show on each database, without the values.
class RecordSecretsTest < PeltonTest
  include RecordDatabases

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
          @model = Class.new(Pelton::Record::Model) { self.table_name = "accounts" }
          @model.create!(name: "ann", token: SECRET)
          instance_exec(&block)
        ensure
          @database&.drop_table?(:accounts)
        end
      end
    end
  end

  each_database "relations" do
    [@model.where(token: SECRET), @model.where(token: [SECRET, nil]), @model.where("token = ?", SECRET), @model.where("token = #{@database.literal(SECRET)}"), @model.where.not(token: SECRET),
      @model.where(id: @model.where(token: SECRET).select(:id)), @model.where(token: SECRET).or(@model.where(name: SECRET))].each do |relation|
      shown = [relation.inspect, relation.dataset.inspect, relation.load.inspect, *[-> { relation.nope }, -> { relation.dataset.nope }, -> { relation.first.nope }, -> { @model.where(token: SECRET, name: "x").first! }].map { |call| told(&call) }]

      assert_match(/accounts/, shown.first)
      shown.each { |text| refute_match MARK, text }
    end
  end

  each_database "errors" do
    @database.query_timeout = 0.2
    slow = {sqlite: long_statement, postgres: "SELECT pg_sleep(10)", mysql: "SELECT SLEEP(10)"}.fetch(@database.database_type)
    messages = [told(Pelton::TimeoutError) { @database.fetch(slow.sub("SELECT") { "SELECT #{@database.literal(SECRET)}, " }).all },
      *Pelton.map([1, 2], limit: 2) { told(Pelton::Record::NotFound) { @model.find_by!(token: "#{SECRET}?") } }]

    messages.each { |text| refute_match MARK, text }
  end

  # As the spans of queries have them. Errors themselves say what the server says.
  each_database "spans" do
    texts = []
    subscription = Pelton::Notifications.subscribe("query.sequel") do |event|
      texts << Pelton::SQLText.without_values(event.payload[:sql], @database.database_type) << (event.error ? Pelton::SQLText.message_without_values(event.error.message) : "")
    end
    text = @database.literal(SECRET)
    ["INSERT INTO accounts (name, token) VALUES (#{text}, #{text})", "INSERT INTO accounts (name, token) VALUES (NULL, #{text})", "SELECT * FROM accounts WHERE token = #{text} AND nope = #{text}",
      "SELECT #{text} #{text} FROM", "SELECT * FROM accounts WHERE id = CAST(#{text} AS INTEGER) -- #{text}"].each do |sql|
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
