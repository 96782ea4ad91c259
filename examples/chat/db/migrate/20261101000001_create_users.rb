# frozen_string_literal: true

Sequel.migration do
  change do
    create_table(:users) do
      primary_key :id
      String :name, size: 60, null: false
      # The name as it is compared: two users cannot have equal ones.
      String :name_key, text: true, null: false, index: {unique: true}
      # How others mention the user: @ann.smith
      String :handle, size: 70, null: false, index: {unique: true}
      String :email, null: false, index: {unique: true}
      String :password_digest, null: false
      Integer :role, null: false, default: 0
      String :avatar, size: 100
      DateTime :deactivated_at
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
    end
  end
end
