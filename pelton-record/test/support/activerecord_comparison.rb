# frozen_string_literal: true

# Runs the same calls on ActiveRecord and on Record, each with the same models and rows in its own SQLite, and prints what differs
# as JSON. A separate program, since ActiveRecord must not get into the other tests. Input: an Array of JSON with the calls.

require_relative "activerecord_gems"
require_relative "activerecord_scopes"

# One of the two, with its own models.
module Comparison
  TABLES = <<~SQL.split(";\n").map(&:strip)
    CREATE TABLE authors (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, name varchar, email varchar, age integer, height float,
      active boolean DEFAULT 1, balance decimal(10, 2), born date, settings text, options text, token varchar, password_digest varchar,
      posts_count integer DEFAULT 0, lock_version integer DEFAULT 0, created_at datetime(6), updated_at datetime(6));
    CREATE UNIQUE INDEX emails ON authors (email);
    CREATE TABLE profiles (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, author_id integer, bio varchar);
    CREATE TABLE posts (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, author_id integer, title varchar, body varchar, status integer, views integer DEFAULT 0,
      created_at datetime(6), updated_at datetime(6));
    CREATE TABLE comments (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, post_id integer, text varchar);
    CREATE TABLE tags (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, name varchar);
    CREATE TABLE taggings (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, post_id integer, tag_id integer);
    CREATE TABLE groups (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, name varchar);
    CREATE TABLE authors_groups (author_id integer, group_id integer);
    CREATE TABLE notes (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, notable_id integer, notable_type varchar, text varchar);
    CREATE TABLE vehicles (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, type varchar, name varchar, author_id integer);
  SQL

  ROWS = <<~SQL.lines(chomp: true)
    INSERT INTO authors (id, name, email, age, height, balance, born, posts_count, created_at, updated_at) VALUES (1, 'Ann', 'ann@example.com', 20, 1.7, 10.5, '2000-02-29', 2, '2020-01-01 00:00:00', '2020-01-01 00:00:00')
    INSERT INTO authors (id, name, email, age, height, balance, posts_count, active, created_at, updated_at) VALUES (2, 'Bob', 'bob@example.com', 30, 1.8, 0.1, 1, 0, '2020-01-01 00:00:00', '2020-01-01 00:00:00')
    INSERT INTO authors (id, name, age, settings, created_at, updated_at) VALUES (3, 'Cid', NULL, '{"color":"red","size":[1,2]}', '2020-01-01 00:00:00', '2020-01-01 00:00:00')
    INSERT INTO profiles (id, author_id, bio) VALUES (1, 1, 'Writes')
    INSERT INTO posts (id, author_id, title, body, status, views) VALUES (1, 1, 'One', 'first', 0, 5), (2, 1, 'Two', 'second', 1, 7), (3, 2, 'Three', 'third', 1, 0)
    INSERT INTO comments (id, post_id, text) VALUES (1, 1, 'good'), (2, 1, 'bad'), (3, 3, 'good')
    INSERT INTO tags (id, name) VALUES (1, 'ruby'), (2, 'sql'), (3, 'unused')
    INSERT INTO taggings (id, post_id, tag_id) VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 3, 2)
    INSERT INTO groups (id, name) VALUES (1, 'staff'), (2, 'guests')
    INSERT INTO authors_groups (author_id, group_id) VALUES (1, 1), (1, 2), (2, 2)
    INSERT INTO notes (id, notable_id, notable_type, text) VALUES (1, 1, '%<module>s::Author', 'of Ann'), (2, 1, '%<module>s::Post', 'of One'), (3, 2, '%<module>s::Author', 'of Bob')
    INSERT INTO vehicles (id, type, name, author_id) VALUES (1, '%<module>s::Car', 'Beetle', 1), (2, '%<module>s::Truck', 'Unimog', 1), (3, NULL, 'Cart', 2)
  SQL

  # Evaluated in the module of each, where `Base` is the parent.
  MODELS = <<~'RUBY'
    class Author < Base
      has_many :posts, -> { order(:id) }, dependent: :destroy, inverse_of: :author
      has_many :published_posts, -> { where(status: 1) }, class_name: "Post"
      has_many :comments, through: :posts
      has_many :taggings, through: :posts
      has_many :tags, through: :taggings
      has_many :post_tags, -> { distinct }, through: :posts, source: :tags
      has_one :profile, dependent: :nullify
      has_many :notes, as: :notable
      has_many :vehicles, dependent: :restrict_with_error
      has_and_belongs_to_many :groups
      accepts_nested_attributes_for :posts, allow_destroy: true, reject_if: ->(given) { given[:title] == "reject" }
      accepts_nested_attributes_for :profile
      validates :name, presence: true, length: {maximum: 20}
      validates :email, uniqueness: true, allow_nil: true
      validates :age, numericality: {greater_than: 0}, allow_nil: true
      validates :height, presence: true, on: :measured
      scope :adult, -> { where(age: 18..) }
      scope :named, ->(name) { where(name: name) }
      scope :older_than, ->(age) { where("age > ?", age) if age }
      normalizes :email, with: ->(email) { email.strip.downcase }
      attribute :settings, :json
      attribute :nickname, :string, default: "none"
      attribute :strength, :integer, default: -> { 5 }
      store :options, accessors: [:theme, :columns], coder: JSON
      store_accessor :settings, :color, :size
      alias_attribute :full_name, :name
      has_secure_token
      has_secure_password validations: false

      def self.oldest = order(age: :desc).first
      def greeting = "I am #{name}"
    end

    class Profile < Base
      belongs_to :author, optional: true
    end

    class Post < Base
      belongs_to :author, counter_cache: true, touch: true
      has_many :comments, -> { order(:id) }
      has_many :taggings
      has_many :tags, through: :taggings
      has_many :notes, as: :notable
      enum :status, {draft: 0, published: 1}
      before_save { self.title = title.strip if title }
      before_destroy { throw :abort if title == "keep" }
      validates :title, presence: true
      delegate :name, to: :author, prefix: true

      def trail = @trail ||= []
      before_validation(on: :create) { trail << "before_validation on create" }
      after_validation { trail << "after_validation" }
      before_save(if: -> { views.to_i > 100 }) { trail << "popular" }
      before_save(unless: :draft?) { trail << "not draft" }
      around_save { |_, block| trail << "around" && block.call && trail << "saved" }
      before_create { trail << "before_create" }
      after_create { trail << "after_create" }
      before_update { trail << "before_update" }
      after_update { trail << "after_update" }
      after_save { trail << "after_save" }
      after_touch { trail << "after_touch" }
      after_destroy { trail << "after_destroy" }
      after_commit(on: :create) { trail << "commit create" }
      after_update_commit { trail << "commit update" }
      after_destroy_commit { trail << "commit destroy" }
      after_rollback { trail << "rollback" }
    end

    class Comment < Base
      belongs_to :post
      has_one :author, through: :post
    end

    class Tag < Base
      has_many :taggings
      has_many :posts, through: :taggings
      has_many :authors, -> { distinct }, through: :posts
    end

    class Tagging < Base
      belongs_to :post
      belongs_to :tag
    end

    class Group < Base
      has_and_belongs_to_many :authors
    end

    class Note < Base
      belongs_to :notable, polymorphic: true
    end

    class Vehicle < Base
      belongs_to :author
      default_scope { order(:name) }
    end

    class Car < Vehicle
    end

    class Truck < Vehicle
    end
  RUBY

  NAMES = %w[Author Profile Post Comment Tag Tagging Group Note Vehicle Car Truck].freeze
  # Their errors and ours.
  ERRORS = {
    "ActiveRecord::RecordNotFound" => "Pelton::Record::NotFound", "ActiveRecord::RecordInvalid" => "Pelton::Record::Invalid",
    "ActiveRecord::RecordNotSaved" => "Pelton::Record::NotSaved", "ActiveRecord::RecordNotDestroyed" => "Pelton::Record::NotSaved",
    "ActiveRecord::StaleObjectError" => "Pelton::Record::Stale", "ActiveRecord::SoleRecordExceeded" => "Pelton::Record::Error",
    "ActiveRecord::RecordNotUnique" => "Sequel::UniqueConstraintViolation", "ActiveRecord::ReadOnlyRecord" => "Pelton::Record::ReadOnly",
    "ActiveRecord::ReadonlyAttributeError" => "Pelton::Record::ReadOnly", "ActiveSupport::MessageVerifier::InvalidSignature" => "Pelton::Record::NotFound",
    "ActiveRecord::StatementInvalid" => "Sequel::DatabaseError", "ActiveModel::UnknownAttributeError" => "ArgumentError",
    "ActiveRecord::UnknownAttributeReference" => "ArgumentError",
    "ActiveRecord::SubclassNotFound" => "ArgumentError", "ActiveRecord::ActiveRecordError" => "Pelton::Record::NotSaved",
    "ActiveRecord::AssociationNotFoundError" => "Sequel::UndefinedAssociation", "ActiveRecord::HasManyThroughNestedAssociationsAreReadonly" => "ArgumentError",
    "ActiveRecord::AssociationTypeMismatch" => "ArgumentError", "ActiveRecord::ConfigurationError" => "ArgumentError"
  }.freeze

  # What a difference is shown with.
  Detail = Module.new { attr_accessor :detail }

  # Both, seen by the calls: a module with the models, and methods that only the calls need.
  class Side
    def initialize(parent, errors, &execute)
      @errors = errors
      @execute = execute
      @module = Module.new
      Comparison.const_set((parent <= ActiveRecord::Base) ? :Theirs : :Ours, @module)
      base = Class.new(parent) { self.abstract_class = true }
      @module.const_set(:Base, base)
      @module.const_set(:Rollback, (parent <= ActiveRecord::Base) ? ActiveRecord::Rollback : Sequel::Rollback)
      (TABLES + Scopes::TABLES).each(&execute)
      @module.module_eval(MODELS)
      Scopes::VARIANTS.each { |name, scope| define_variant(name, scope) }
    end

    def call(code)
      restore
      plain(@module.module_eval("-> { #{code} }", __FILE__, __LINE__).call)
    rescue StandardError, ScriptError => error
      {"error" => @errors.fetch(error.class.name, error.class.name), "message" => error.class.name.end_with?("Invalid") ? plain(error.message) : nil}
        .compact.extend(Detail).tap { |found| found.detail = "#{error.class}: #{error.message[0, 200]} #{error.backtrace.grep_v(/gems/).first(2)}" }
    end

    private

    def define_variant(name, scope)
      inner = @module.const_set(name, Module.new)
      inner.const_set(:Base, @module.const_get(:Base))
      inner.module_eval(Scopes::MODELS.gsub(/^(class (\w+) < Base)$/) { "#{$1}\n#{scope}" }, name)
    end

    # The rows as they were, unless no call has changed any.
    def restore
      return if @changes == changes
      NAMES.each { |name| @execute.call("DELETE FROM #{@module.const_get(name).table_name}") }
      Scopes::TABLES.each { |table| @execute.call("DELETE FROM #{table[/TABLE (\w+)/, 1]}") }
      @execute.call("DELETE FROM authors_groups")
      @execute.call("DELETE FROM sqlite_sequence")
      (ROWS + Scopes::ROWS).each { |row| @execute.call(row.gsub("%<module>s", @module.name)) }
      @changes = changes
    end

    def changes = @module.const_get(:Author).find_by_sql("SELECT total_changes() AS name").first.name

    def plain(value)
      case value
      when nil, true, false, Integer then value
      when String then value.gsub("#{@module.name}::", "").gsub(/comparison.(theirs|ours)./, "")
      when Float then value.nan? ? "NaN" : value
      when BigDecimal then "#{value.to_s("F")} decimal"
      when Symbol then value.to_s
      when Time then "a time"
      when Date then value.iso8601
      when Hash then value.to_h { |key, one| [plain(key).to_s, plain(one)] }
      when @module.const_get(:Base) then [value.class.name.demodulize, plain(value.attributes.except("token", "password_digest"))]
      when Class, Module then value.name.delete_prefix("#{@module.name}::")
      when ActiveModel::Errors then plain(value.to_hash)
      when ActiveRecord::Result then plain(value.to_a)
      when Range then value.inspect
      when Enumerable then value.map { |one| plain(one) }
      else value.respond_to?(:to_ary) ? value.to_ary.map { |one| plain(one) } : value.class.name
      end
    end
  end
end

ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Base.cache_versioning = true
ActiveModel::SecurePassword.min_cost = true
ActiveRecord::Base.belongs_to_required_by_default = true
ActiveRecord.run_after_transaction_callbacks_in_order_defined = true # as new applications have it
database = Pelton::Record.connect("sqlite::memory:")
theirs = Comparison::Side.new(ActiveRecord::Base, Comparison::ERRORS) { |sql| ActiveRecord::Base.connection.execute(sql) }
ours = Comparison::Side.new(Pelton::Record::Model, {}) { |sql| database.run(sql) }
different = JSON.parse($stdin.read).filter_map do |code|
  expected = theirs.call(code)
  found = ours.call(code)
  [code, *[expected, found].map { |answer| answer.respond_to?(:detail) ? answer.detail : answer }] unless expected == found
end
puts JSON.generate(different)
