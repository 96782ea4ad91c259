# frozen_string_literal: true

require_relative "table"
require_relative "relation"
require_relative "querying"
require_relative "attribute_types"
require_relative "attributes"
require_relative "assignment"
require_relative "associations"
require_relative "callbacks"
require_relative "column_names"
require_relative "dirty"
require_relative "enum"
require_relative "ignored_columns"
require_relative "inheritance"
require_relative "locking"
require_relative "merging"
require_relative "persistence"
require_relative "secure"
require_relative "serialization"
require_relative "store"
require_relative "timestamps"
require_relative "transactions"
require_relative "validations"

module Pelton
  module Record
    # The base class of models: Sequel's model with ActiveRecord's names.
    #
    #     class User < Pelton::Record::Model
    #       has_many :posts
    #     end
    #     User.where(active: true).order(:name).limit(5)
    #
    # docs/start/from_activerecord.md lists how each call of ActiveRecord differs. (Created without a name, because Sequel looks up the table of
    # a class that has one.)
    Model = Class.new(::Sequel::Model)

    class Model
      plugin :dirty
      plugin :defaults_setter, cache: true
      plugin :pelton_together
      plugin :pelton_merging
      plugin :many_through_many
      unrestrict_primary_key
      @default_scopes = [].freeze # where classes without a default scope find theirs

      extend Table
      extend IgnoredColumns
      extend ColumnNames
      extend Inheritance
      extend Enum
      extend Store
      extend ActiveModel::SecurePassword::ClassMethods
      extend Secure
      extend Querying
      extend Merging
      extend Styles
      include Styles
      include Attributes
      include Assignment
      include Dirty
      include Serialization
      include ColumnNames::Attribute
      include Persistence
      include Timestamps
      include Inheritance::Typed
      include Locking
      include Transactions
      include Callbacks
      include Validations
      extend Associations
      extend Association::Nested::ClassMethods
      include Association::Owner
      include Association::Nested

      validate :valid_new_records
    end
  end
end
