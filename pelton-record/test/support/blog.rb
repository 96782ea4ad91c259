# frozen_string_literal: true

require "test_helper"
require_relative "record_databases"

# A blog's tables and models, for tests.
module Blog
  include RecordDatabases

  # @return [Class] a model whose key has two columns
  def seats
    database.drop_table?(:seats)
    database.create_table(:seats) do
      Integer :line
      Integer :number
      String :taken_by
      primary_key [:line, :number]
    end
    model(:Seat) { self.table_name = "seats" }
  end

  class Author < Pelton::Record::Model
    permits :name
    has_many :posts, dependent: :destroy
    has_many :comments, through: :posts
    has_many :tags, through: :posts
    has_many :notes, as: :notable
    has_one :profile
    validates :name, presence: true
    scope :named, ->(name) { where(name: name) }
    scope :adult, -> { where(age: 18..) }

    def self.oldest = order(age: :desc).first
  end

  class Profile < Pelton::Record::Model
    belongs_to :author
  end

  class Post < Pelton::Record::Model
    belongs_to :author, counter_cache: true, touch: true
    has_many :comments, -> { order(:id) }, dependent: :delete_all
    has_many :taggings
    has_many :tags, through: :taggings
    has_many :notes, as: :notable
    has_and_belongs_to_many :editors, class_name: "Author", join_table: :editors_posts, foreign_key: :post_id, association_foreign_key: :editor_id
    enum :status, [:draft, :published], default: :draft
  end

  class Comment < Pelton::Record::Model
    belongs_to :post
    belongs_to :parent, class_name: "Comment", optional: true
    has_many :replies, class_name: "Comment", foreign_key: :parent_id
  end

  class Tag < Pelton::Record::Model
    has_many :taggings
    has_many :posts, through: :taggings
  end

  class Tagging < Pelton::Record::Model
    belongs_to :post
    belongs_to :tag
  end

  class Note < Pelton::Record::Model
    belongs_to :notable, polymorphic: true
  end

  TABLES = {
    authors: lambda do |_|
      String :name
      String :email, unique: true
      Integer :age
      Float :height
      Integer :posts_count, default: 0
      DateTime :created_at
      DateTime :updated_at
    end,
    profiles: lambda do |_|
      Integer :author_id
      String :bio
    end,
    posts: lambda do |_|
      Integer :author_id
      String :title
      Integer :status
      DateTime :created_at
      DateTime :updated_at
    end,
    comments: lambda do |_|
      Integer :post_id
      Integer :parent_id
      String :text
    end,
    taggings: lambda do |_|
      Integer :post_id
      Integer :tag_id
    end,
    tags: lambda do |_|
      String :name
    end,
    notes: lambda do |_|
      Integer :notable_id
      String :notable_type
      String :text
    end
  }.freeze

  # The SQL that was sent.
  class Log
    attr_reader :statements

    def initialize
      @statements = []
    end

    def clear = @statements.clear

    # Those that were not about the schema.
    def queries = @statements.grep(/\A(SELECT|INSERT|UPDATE|DELETE|WITH)/).grep_v(/sqlite_|pg_|information_schema|PRAGMA|LIMIT 0/i)
  end

  def setup
    super
    @database = connect_database
    TABLES.each do |name, columns|
      table(name, &columns)
    end
    table(:editors_posts) do
      Integer :post_id
      Integer :editor_id
    end
    [Author, Profile, Post, Comment, Tag, Tagging, Note].each(&:dataset)
    @log = Log.new
    @subscription = Pelton::Notifications.subscribe("query.sequel") { |event| @log.statements << event.payload[:sql] if @database.equal?(event.payload[:database]) }
  end

  def teardown
    Pelton::Notifications.unsubscribe(@subscription)
    super
  end

  attr_reader :database

  # Other databases are for test/integration/.
  def connect_database = connect

  # Makes a table anew, with the key id.
  def table(name, &columns)
    @database.drop_table?(name)
    @database.create_table(name) do
      primary_key :id
      instance_exec(nil, &columns)
    end
  end

  # A model for one test.
  def model(name, parent = Pelton::Record::Model, &body)
    self.class.send(:remove_const, name) if self.class.const_defined?(name, false)
    self.class.const_set(name, Class.new(parent))
    self.class.const_get(name).tap { |one| one.class_eval(&body) if body }
  end

  # @return [Array<String>] the queries of the block
  def queries
    @log.clear
    yield
    @log.queries
  end

  def ann = @ann ||= Author.create!(name: "Ann", email: "ann@example.com", age: 20, height: 1.7)

  def bob = @bob ||= Author.create!(name: "Bob", email: "bob@example.com", age: 30, height: 1.8)

  def cid = @cid ||= Author.create!(name: "Cid", email: nil, age: nil)

  def people = [ann, bob, cid]

  # A blog whose authors are there before each test.
  module WithPeople
    include Blog

    def setup
      super
      people
    end
  end
end
